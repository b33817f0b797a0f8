package io.softdpu.samples;

import io.softdpu.comch.ComchServer;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import java.io.PrintStream;
import java.util.List;

/**
 * The DPU side of a conversation by messages: serves a Comm Channel for one client, waits for its
 * message, replies, and stops when the client has disconnected. Run {@code cc-ctrl-path-client}
 * beside it; on a card the server has to be first.
 */
final class ControlPathServer implements Sample {
    /** The name under which it listens. */
    static final String SERVER = "cc-ctrl-path";

    private static final String DEFAULT_TEXT = "Hello from the DPU";

    @Override
    public String name() {
        return "cc-ctrl-path-server";
    }

    @Override
    public String summary() {
        return "Serves a Comm Channel, and replies to the message of cc-ctrl-path-client.";
    }

    @Override
    public String output() {
        return "The states of the server, the client that has connected, its text, and its"
                + " disconnect, after which the server stops.";
    }

    @Override
    public String source() {
        return "What is registered before start(), by ChannelEvents and MessageChannel; a server"
                + " runs before it has a connection.";
    }

    @Override
    public List<SampleOption> options() {
        return ChannelSettings.OF_SERVER;
    }

    @Override
    public List<String> exampleArguments() {
        return List.of("-p 03:00.0 -r 0b:00.0");
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        Deadline deadline = Deadline.in(settings.timeout());
        try (Machine machine = Machine.builder(Side.DPU).topology(settings.topology()).open();
                Device device = ChannelSettings.port(machine, settings).open();
                Representor representor = ChannelSettings.representor(device, settings).open();
                ProgressEngine engine = ProgressEngine.create();
                ComchServer server = ComchServer.create(device, representor, SERVER)) {
            byte[] text = ChannelSettings.messageText(settings, device.info(), DEFAULT_TEXT);

            // All tasks and events are registered before the start.
            ChannelEvents events = new ChannelEvents(out);
            events.register(server);
            server.setMaxClients(1); // a second one is refused
            MessageChannel channel = new MessageChannel(server, engine, deadline);
            server.start();
            out.println("waiting for cc-ctrl-path-client");

            byte[] received = channel.awaitMessage();
            out.println(ChannelSettings.received(received));
            channel.send(channel.sender(), text);
            out.println("sent: bytes=" + text.length);

            // A server that stopped now would end the connection before the client does.
            engine.runUntil(() -> events.connection() == null, deadline.remaining(), server);
            ChannelEvents.stop(server, engine, deadline);
        }
    }
}
