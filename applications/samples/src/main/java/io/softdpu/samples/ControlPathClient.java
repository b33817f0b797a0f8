package io.softdpu.samples;

import io.softdpu.comch.ComchClient;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import java.io.PrintStream;
import java.util.List;

/**
 * The host side of a conversation by messages: connects to a Comm Channel, sends the first message
 * once it is connected, waits for the reply, and disconnects. Run {@code cc-ctrl-path-server}
 * first; here a client also waits for a server that starts later.
 */
final class ControlPathClient implements Sample {
    private static final String DEFAULT_TEXT = "Hello from the host";

    @Override
    public String name() {
        return "cc-ctrl-path-client";
    }

    @Override
    public String summary() {
        return "Connects to cc-ctrl-path-server, sends it a message, and waits for the reply.";
    }

    @Override
    public String output() {
        return "The states of the client, which runs while it is connected, and the server's"
                + " text.";
    }

    @Override
    public String source() {
        return "The order of run(): registered first, then started, connected, sent; stop()"
                + " delivers what was sent, and disconnects.";
    }

    @Override
    public List<SampleOption> options() {
        return ChannelSettings.OF_CLIENT;
    }

    @Override
    public List<String> exampleArguments() {
        return List.of("-p 0b:00.0 -t Hello");
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        Deadline deadline = Deadline.in(settings.timeout());
        try (Machine machine = Machine.builder(Side.HOST).topology(settings.topology()).open();
                Device device = ChannelSettings.function(machine, settings).open();
                ProgressEngine engine = ProgressEngine.create();
                ComchClient client = ComchClient.create(device, ControlPathServer.SERVER)) {
            byte[] text = ChannelSettings.messageText(settings, device.info(), DEFAULT_TEXT);

            // All tasks and events are registered before the start.
            ChannelEvents events = new ChannelEvents(out);
            events.register(client);
            client.setConnectTimeout(settings.timeout()); // it looks for its server that long
            MessageChannel channel = new MessageChannel(client, engine, deadline);
            out.println("waiting for cc-ctrl-path-server");
            engine.start(client, ChannelSettings.startTimeout(settings)); // until it is connected

            channel.send(client.connection(), text);
            out.println("sent: bytes=" + text.length);
            byte[] received = channel.awaitMessage();
            out.println(ChannelSettings.received(received));
            ChannelEvents.stop(client, engine, deadline);
        }
    }
}
