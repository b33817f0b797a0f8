package io.softdpu.samples;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import java.io.PrintStream;
import java.util.List;
import java.util.Objects;

/**
 * The DPU side of the fast path: on the connection of one client it creates a producer and a
 * consumer, exchanges a text with the client's, and stops them before the server. Run {@code
 * cc-data-path-high-speed-client} beside it; on a card the server has to be first.
 */
final class DataPathServer implements Sample {
    /** The name under which it listens. */
    static final String SERVER = "cc-data-path-high-speed";

    private static final String DEFAULT_TEXT = "Data from the DPU";

    @Override
    public String name() {
        return "cc-data-path-high-speed-server";
    }

    @Override
    public String summary() {
        return "Serves a Comm Channel, and exchanges a text with"
                + " cc-data-path-high-speed-client on the fast path.";
    }

    @Override
    public String output() {
        return "The states of server, producer and consumer; the receive is posted before the"
                + " send, and producer and consumer stop before the server.";
    }

    @Override
    public String source() {
        return "DataPath.java does the same for both sides; a producer that finds no posted"
                + " buffer gets AGAIN, in submit().";
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
            byte[] text = ChannelSettings.dataText(settings, device.info(), DEFAULT_TEXT);
            ChannelEvents events = new ChannelEvents(out);
            events.register(server);
            DataPath.register(server, out);
            server.setMaxClients(1); // a second one is refused
            engine.connect(server);
            server.start();
            out.println("waiting for cc-data-path-high-speed-client");
            engine.runUntil(() -> events.connection() != null, deadline.remaining(), server);
            ComchConnection connection = Objects.requireNonNull(events.connection(), "awaited");

            try (DataPath path =
                    new DataPath(connection, device, engine, events, text, deadline, out)) {
                path.start();
                out.println(ChannelSettings.received(path.exchange()));
                path.stop(); // the client waits for this before it stops its own
            }
            engine.runUntil(() -> events.connection() == null, deadline.remaining(), server);
            ChannelEvents.stop(server, engine, deadline);
        }
    }
}
