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
 * The host side of the fast path: on its connection it creates a producer and a consumer, exchanges
 * a text with the server's, and stops them before the client. Run {@code
 * cc-data-path-high-speed-server} first; here a client also waits for a server that starts later.
 */
final class DataPathClient implements Sample {
    private static final String DEFAULT_TEXT = "Data from the host";

    @Override
    public String name() {
        return "cc-data-path-high-speed-client";
    }

    @Override
    public String summary() {
        return "Connects to cc-data-path-high-speed-server, and exchanges a text with it on the"
                + " fast path.";
    }

    @Override
    public String output() {
        return "The states of client, producer and consumer; the receive is posted before the"
                + " send, and producer and consumer stop before the client.";
    }

    @Override
    public String source() {
        return "The end of run(): the client stops when the server's consumer has ended, so"
                + " neither takes the other's buffers away.";
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
                ComchClient client = ComchClient.create(device, DataPathServer.SERVER)) {
            byte[] text = ChannelSettings.dataText(settings, device.info(), DEFAULT_TEXT);
            ChannelEvents events = new ChannelEvents(out);
            events.register(client);
            DataPath.register(client, out);
            client.setConnectTimeout(settings.timeout()); // it looks for its server that long
            out.println("waiting for cc-data-path-high-speed-server");
            engine.start(client, ChannelSettings.startTimeout(settings)); // until it is connected

            try (DataPath path =
                    new DataPath(
                            client.connection(), device, engine, events, text, deadline, out)) {
                path.start();
                out.println(ChannelSettings.received(path.exchange()));
                path.awaitEndOfPeer();
                path.stop();
            }
            ChannelEvents.stop(client, engine, deadline);
        }
    }
}
