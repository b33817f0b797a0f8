package gettingstarted;

import io.softdpu.comch.ComchClient;
import io.softdpu.comch.ComchReceiveBuffer;
import io.softdpu.comch.ComchSendBuffer;
import io.softdpu.comch.ComchServer;
import io.softdpu.comch.ComchStream;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/** Buffers of 1 MiB over the fast path: "host" sends a thousand of them, "dpu" receives. */
public final class FastPath {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int BUFFER_BYTES = 1 << 20;

    public static void main(String[] arguments) {
        switch (String.join(" ", arguments)) {
            case "dpu" -> receive();
            case "host" -> send();
            default -> throw new IllegalArgumentException("usage: FastPath host|dpu");
        }
    }

    private static void receive() {
        try (Machine machine = Machine.open(Side.DPU);
                Device port = machine.findDevice("03:00.0").open();
                Representor function = port.findRepresentor("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                ComchServer server = ComchServer.create(port, function, "fast-path")) {
            engine.start(server.acceptStreams(), TIMEOUT);
            System.out.println("serving: name=" + server.serverName());
            engine.runUntil(() -> !server.connections().isEmpty(), Duration.ofMinutes(5), server);
            try (ComchStream stream = ComchStream.create(server.connections().getFirst())) {
                engine.start(stream.setBufferBytes(BUFFER_BYTES), TIMEOUT);
                long messages = 0;
                long bytes = 0;
                for (ComchReceiveBuffer buffer; (buffer = stream.receive(TIMEOUT)) != null; ) {
                    messages += buffer.segment().get(ValueLayout.JAVA_LONG, 0) == messages ? 1 : 0;
                    bytes += buffer.segment().byteSize();
                    buffer.close(); // now the host may fill it again
                }
                System.out.println("received: messages=" + messages + ", bytes=" + bytes);
            }
        }
    }

    private static void send() {
        try (Machine machine = Machine.open(Side.HOST);
                Device function = machine.findDevice("0b:00.0").open();
                ProgressEngine engine = ProgressEngine.create();
                ComchClient client = ComchClient.create(function, "fast-path")) {
            engine.start(client.acceptStreams(), TIMEOUT);
            try (ComchStream stream = ComchStream.create(client.connection())) {
                engine.start(stream.setBufferBytes(BUFFER_BYTES), TIMEOUT);
                for (long i = 0; i < 1000; i++) {
                    ComchSendBuffer buffer = stream.claim(TIMEOUT);
                    buffer.segment().set(ValueLayout.JAVA_LONG, 0, i);
                    buffer.send(BUFFER_BYTES);
                }
            } // delivers what was sent, then ends the stream of the peer, too
        }
    }
}
