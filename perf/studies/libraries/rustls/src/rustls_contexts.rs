//! What connections share: a client's and a server's configuration.
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, Tls12Resumption};
use rustls::crypto::aws_lc_rs::{cipher_suite, default_provider, kx_group, Ticketer};
use rustls::crypto::{
    verify_tls12_signature, verify_tls13_signature, CryptoProvider, SupportedKxGroup,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, ServerSessionMemoryCache};
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme,
    SupportedCipherSuite, SupportedProtocolVersion,
};

use crate::task::{Kind, Task};
use crate::Outcome;

/// As many sessions as OpenSSL keeps by default.
const SESSIONS: usize = 20 * 1024;

pub struct Contexts {
    pub client: Arc<ClientConfig>,
    pub server: Arc<ServerConfig>,
}

pub fn suite(task: &Task) -> SupportedCipherSuite {
    match (task.tls13(), task.rsa()) {
        (true, _) => cipher_suite::TLS13_AES_128_GCM_SHA256,
        (false, true) => cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        (false, false) => cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    }
}

pub fn group(task: &Task) -> &'static dyn SupportedKxGroup {
    if task.post_quantum {
        kx_group::X25519MLKEM768
    } else {
        kx_group::X25519
    }
}

impl Contexts {
    pub fn new(task: &Task) -> Outcome<Self> {
        let provider = Arc::new(CryptoProvider {
            cipher_suites: vec![suite(task)],
            kx_groups: vec![group(task)],
            ..default_provider()
        });
        let versions: &[&SupportedProtocolVersion] =
            if task.tls13() { &[&TLS13] } else { &[&TLS12] };

        let mut client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(versions)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyChain::new(task, &provider)))
            .with_no_client_auth();
        client.enable_sni = false; // as no client of this study sends it
        client.resumption = match task.kind {
            Kind::Ticket => Resumption::in_memory_sessions(SESSIONS),
            Kind::Id => Resumption::in_memory_sessions(SESSIONS)
                .tls12_resumption(Tls12Resumption::SessionIdOnly),
            _ => Resumption::disabled(),
        };

        let chain = CertificateDer::pem_file_iter(&task.certificate)?.collect::<Result<_, _>>()?;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)?
            .with_no_client_auth()
            .with_single_cert(chain, PrivateKeyDer::from_pem_file(&task.certificate)?)?;
        server.send_tls13_tickets = usize::from(task.resumes());
        server.session_storage = Arc::new(NoServerSessionStorage {});
        match task.kind {
            Kind::Ticket => server.ticketer = Ticketer::new()?,
            Kind::Id => server.session_storage = ServerSessionMemoryCache::new(SESSIONS),
            _ => {}
        }
        Ok(Contexts { client: Arc::new(client), server: Arc::new(server) })
    }
}

/// Looks at no chain, as no client of this study does, and verifies the handshake's signature.
#[derive(Debug)]
struct AnyChain {
    provider: Arc<CryptoProvider>,
    scheme: SignatureScheme,
}

impl AnyChain {
    fn new(task: &Task, provider: &Arc<CryptoProvider>) -> Self {
        let scheme = if task.rsa() {
            SignatureScheme::RSA_PSS_SHA256
        } else {
            SignatureScheme::ECDSA_NISTP256_SHA256
        };
        AnyChain { provider: provider.clone(), scheme }
    }
}

impl ServerCertVerifier for AnyChain {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![self.scheme]
    }
}
