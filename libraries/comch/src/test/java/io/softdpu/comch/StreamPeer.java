package io.softdpu.comch;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * One side with a stream, on the thread that creates it; as a process it is a server that echoes.
 */
public final class StreamPeer implements AutoCloseable {
    private static final String NAME = "stream server";

    final Machine machine;
    final Device device;
    final ProgressEngine engine;
    final ComchEndpoint endpoint;
    private final Representor representor;
    private ComchConnection connected;

    StreamPeer(Side side, Path folder) {
        machine = Machine.builder(side).fabricFolder(folder).open();
        device = machine.findDevice(side == Side.DPU ? "p0" : "pf0").open();
        engine = ProgressEngine.create();
        if (side == Side.DPU) {
            representor = device.findRepresentor("hpf0").open();
            endpoint =
                    ComchServer.create(device, representor, NAME)
                            .setConnectedCallback(c -> connected = c);
        } else {
            representor = null;
            endpoint = ComchClient.create(device, NAME).setConnectTimeout(Patience.LIMIT);
        }
        endpoint.setSendTasks(1, ComchSendTask::free, ComchSendTask::free)
                .setMessageCallback((_, _) -> {})
                .setControlTimeout(Patience.LIMIT)
                .acceptStreams();
        engine.connect(endpoint);
        endpoint.start();
    }

    /** Prints its states, and echoes until the peer ends. */
    public static void main(String[] arguments) {
        try (StreamPeer peer = new StreamPeer(Side.DPU, Path.of(arguments[0]))) {
            System.out.println("ready");
            try (ComchStream stream = peer.stream(peer.connection())) {
                System.out.println("running");
                peer.echo(stream);
                System.out.println("ended " + stream.failure());
            }
        }
    }

    ComchConnection connection() {
        if (endpoint instanceof ComchClient client) {
            engine.start(client, Patience.LIMIT);
            return client.connection();
        }
        until("a client has connected", () -> connected != null);
        return connected;
    }

    /** A running stream. */
    ComchStream stream(ComchConnection over) {
        ComchStream stream = ComchStream.create(over).setReceiveBuffers(4).setSendBuffers(4);
        engine.start(stream, Patience.LIMIT);
        return stream;
    }

    /** Replies to each message with the same until there is none; the number of messages. */
    int echo(ComchStream stream) {
        int messages = 0;
        ComchReceiveBuffer request;
        while ((request = stream.receive(Patience.LIMIT)) != null) {
            ComchSendBuffer reply = stream.claim(Patience.LIMIT);
            MemorySegment.copy(request.segment(), 0, reply.segment(), 0, request.length());
            reply.send(request.length());
            request.close();
            messages++;
        }
        return messages;
    }

    void until(String what, BooleanSupplier condition) {
        // Other threads do not wake this one.
        Await.byStep(what, condition, () -> engine.await(Duration.ofMillis(100)));
    }

    @Override
    public void close() {
        endpoint.close();
        engine.close();
        if (representor != null) {
            representor.close();
        }
        device.close();
        machine.close();
    }
}
