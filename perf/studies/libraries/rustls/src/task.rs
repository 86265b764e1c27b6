//! The command line.
use std::num::NonZeroU16;

use rustls::ProtocolVersion;

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Full,
    Ticket,
    Id,
    Renegotiate,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Sharing {
    Shared,
    Thread,
    Library,
}

#[derive(Clone)]
pub struct Task {
    version: String,
    kind_name: String,
    key: String,
    group: String,
    contexts_name: String,
    pub kind: Kind,
    pub contexts: Sharing,
    pub post_quantum: bool,
    pub certificate: String,
    pub threads: usize,
    pub seconds: f64,
}

fn one_of<T: Copy>(value: &str, choices: &[(&str, T)]) -> Result<T, String> {
    let found = choices.iter().find(|(name, _)| *name == value);
    found.map(|(_, choice)| *choice).ok_or_else(|| format!("'{value}' is no value for this option"))
}

fn number<T: std::str::FromStr>(value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("'{value}' is no number for this option"))
}

impl Task {
    pub fn parse() -> Result<Self, String> {
        let mut task = Task {
            version: "1.3".into(),
            kind_name: "full".into(),
            key: "ecdsa-p256".into(),
            group: "x25519".into(),
            contexts_name: "shared".into(),
            kind: Kind::Full,
            contexts: Sharing::Shared,
            post_quantum: false,
            certificate: String::new(),
            threads: 1,
            seconds: 1.0,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, value.to_string()),
                None => (word.as_str(), words.next().ok_or(format!("{word} wants a value"))?),
            };
            task.set(option, value)?;
        }
        if task.certificate.is_empty() {
            return Err("--certificate is required".into());
        }
        Ok(task)
    }

    fn set(&mut self, option: &str, value: String) -> Result<(), String> {
        match option {
            "--version" => one_of(&value, &[("1.2", ()), ("1.3", ())])?,
            "--key" => one_of(&value, &[("rsa-2048", ()), ("ecdsa-p256", ())])?,
            "--group" => {
                self.post_quantum = one_of(&value, &[("x25519", false), ("x25519mlkem768", true)])?
            }
            "--kind" => {
                let kinds = [
                    ("full", Kind::Full),
                    ("ticket", Kind::Ticket),
                    ("id", Kind::Id),
                    ("renegotiate", Kind::Renegotiate),
                ];
                self.kind = one_of(&value, &kinds)?
            }
            "--contexts" => {
                let sharings = [
                    ("shared", Sharing::Shared),
                    ("thread", Sharing::Thread),
                    ("library", Sharing::Library),
                ];
                self.contexts = one_of(&value, &sharings)?
            }
            "--threads" => self.threads = number::<NonZeroU16>(&value)?.get().into(),
            "--seconds" => self.seconds = number(&value)?,
            "--certificate" => {}
            _ => return Err(format!("{option} is no option")),
        }
        match option {
            "--version" => self.version = value,
            "--key" => self.key = value,
            "--group" => self.group = value,
            "--kind" => self.kind_name = value,
            "--contexts" => self.contexts_name = value,
            "--certificate" => self.certificate = value,
            _ => {}
        }
        Ok(())
    }

    pub fn tls13(&self) -> bool {
        self.version == "1.3"
    }

    pub fn rsa(&self) -> bool {
        self.key == "rsa-2048"
    }

    pub fn resumes(&self) -> bool {
        matches!(self.kind, Kind::Ticket | Kind::Id)
    }

    pub fn protocol(&self) -> ProtocolVersion {
        if self.tls13() {
            ProtocolVersion::TLSv1_3
        } else {
            ProtocolVersion::TLSv1_2
        }
    }

    /// The members of the JSON object that say what was asked.
    pub fn described(&self, library: &str) -> String {
        format!(
            r#""library": "{library}", "version": "{}", "kind": "{}", "key": "{}", "group": "{}", "threads": {}, "contexts": "{}""#,
            self.version, self.kind_name, self.key, self.group, self.threads, self.contexts_name
        )
    }
}
