package gettingstarted;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Request and response over the Comm Channel: "server" on the DPU, "client" on the host. */
public final class RequestResponse {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    public static void main(String[] arguments) {
        switch (String.join(" ", arguments)) {
            case "server" -> serve();
            case "client" -> request();
            default -> throw new IllegalArgumentException("usage: RequestResponse server|client");
        }
    }

    private static void serve() {
        boolean[] ended = {false};
        try (Machine machine = Machine.open(Side.DPU);
                Device port = machine.findDevice("03:00.0").open();
                Representor function = port.findRepresentor("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                ComchServer server = ComchServer.create(port, function, "upper-case")) {
            server.setSendQueue(1024, 1 << 20) // messages and bytes that may wait for each client
                    .setConnectedCallback(client -> {})
                    .setDisconnectedCallback((client, reason) -> ended[0] = true)
                    .setMessageCallback((client, message) -> {
                        String request = UTF_8.decode(message.asByteBuffer()).toString();
                        byte[] reply = request.toUpperCase(Locale.ROOT).getBytes(UTF_8);
                        if (client.trySend(reply) == Status.FULL) {
                            client.disconnect(); // it does not read its replies
                        }
                    });
            engine.start(server, TIMEOUT);
            System.out.println("serving: name=" + server.serverName());
            engine.runUntil(() -> ended[0], Duration.ofMinutes(5), server);
        }
    }

    private static void request() {
        String[] response = {null};
        try (Machine machine = Machine.open(Side.HOST);
                Device function = machine.findDevice("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                ComchClient client = ComchClient.create(function, "upper-case")) {
            client.setSendQueue(1024, 1 << 20);
            client.setMessageCallback((server, message) ->
                    response[0] = UTF_8.decode(message.asByteBuffer()).toString());
            engine.start(client, TIMEOUT);
            for (String request : List.of("one", "two", "three")) {
                response[0] = null;
                client.connection().send(request.getBytes(UTF_8));
                engine.runUntil(() -> response[0] != null, TIMEOUT, client);
                System.out.println(request + ": " + response[0]);
            }
        }
    }
}
