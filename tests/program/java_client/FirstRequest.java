// Java's TLS client as most programs use it, with Nagle's algorithm on: how long do its first
// requests wait for their answers?
//
//     java FirstRequest.java PORT CONNECTIONS
//
// One after the other it makes so many connections each of TLS 1.2 and 1.3, in turns, to an
// upstream that echoes, and prints one object of JSON: by version, the waits in seconds.

import java.io.IOException;
import java.net.InetAddress;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

final class FirstRequest {
    private static final int DEADLINE_MS = 20_000;

    /** Everyone trusts everyone: tests are about when, not about whom. */
    private static final class Credulous implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String kind) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }

    /** waitOfFirstRequest is how long the first request on a new connection waits. */
    private static double waitOfFirstRequest(String version, int port)
            throws IOException, GeneralSecurityException {
        // A context of its own, so that no session is resumed.
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Credulous()}, null);
        InetAddress loopback = InetAddress.getByName("127.0.0.1");
        try (SSLSocket socket =
                (SSLSocket) context.getSocketFactory().createSocket(loopback, port)) {
            socket.setSoTimeout(DEADLINE_MS);
            socket.setEnabledProtocols(new String[] {version});
            socket.startHandshake();
            byte[] request = {'h', 'e', 'l', 'l', 'o'};
            long begin = System.nanoTime();
            socket.getOutputStream().write(request);
            byte[] answer = socket.getInputStream().readNBytes(request.length);
            long end = System.nanoTime();
            if (!Arrays.equals(answer, request)) {
                throw new IOException("another answer than the request");
            }
            return (end - begin) / 1e9;
        }
    }

    public static void main(String[] arguments) throws IOException, GeneralSecurityException {
        int port = Integer.parseInt(arguments[0]);
        int connections = Integer.parseInt(arguments[1]);
        Map<String, double[]> waits = new LinkedHashMap<>();
        waits.put("1.2", new double[connections]);
        waits.put("1.3", new double[connections]);
        for (int i = 0; i < connections; ++i) {
            for (Map.Entry<String, double[]> each : waits.entrySet()) {
                each.getValue()[i] = waitOfFirstRequest("TLSv" + each.getKey(), port);
            }
        }
        StringBuilder json = new StringBuilder();
        waits.forEach((version, of) ->
                json.append(json.length() == 0 ? "{" : ", ")
                        .append("\"" + version + "\": " + Arrays.toString(of)));
        System.out.println(json.append("}"));
    }
}
