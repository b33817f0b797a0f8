package io.softdpu.samples;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchServer;
import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.linux.text.Text;
import java.io.PrintStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The DPU side of two signals by one sync event: serves a Comm Channel, makes a handle from the
 * export that the host sends, waits for the host's signal and answers by one of its own. To be
 * started before {@code sync-event-host}.
 */
final class SyncEventDpu implements Sample {
    @Override
    public String name() {
        return "sync-event-dpu";
    }

    @Override
    public String summary() {
        return "Waits for the signal of sync-event-host by a sync event of the host, and answers.";
    }

    @Override
    public String output() {
        return "The value that has ended the wait, and the one that is signalled; no message"
                + " carries either.";
    }

    @Override
    public String source() {
        return "createFromExport() makes the handle; DirectSignals and JobSignals use it in the two"
                + " modes.";
    }

    @Override
    public List<SampleOption> options() {
        return SyncEventSettings.OF_DPU;
    }

    @Override
    public List<String> exampleArguments() {
        return List.of("-d 03:00.0 -r 0b:00.0");
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        SyncEventSettings chosen = SyncEventSettings.of(settings);
        Deadline deadline = Deadline.in(settings.timeout());
        try (Machine machine = Machine.builder(Side.DPU).topology(settings.topology()).open();
                Device device = SyncEventSettings.port(machine, settings).open();
                Representor representor =
                        device.findRepresentor(settings.required(SyncEventSettings.REPRESENTOR))
                                .open();
                ProgressEngine engine = ProgressEngine.create();
                ComchServer server =
                        ComchServer.create(device, representor, SyncEventSettings.SERVER)) {
            server.setMaxClients(1);
            HostWatch host = new HostWatch();
            server.setConnectedCallback(_ -> {}).setDisconnectedCallback(host::disconnected);
            MessageChannel channel = new MessageChannel(server, engine, deadline);
            server.start();
            out.println("waiting for sync-event-host");

            byte[] export = channel.awaitMessage();
            channel.settle(); // a signal is waited for without the engine

            host.isAwaited = false; // the event fails if the host ends
            // Waits for the host's machine, so it belongs here and not into a callback.
            try (SyncEvent event = SyncEvent.createFromExport(export, device);
                    EventSignals signals = EventSignals.start(event, chosen, deadline)) {
                out.println("waited: value=" + signals.awaitGreater(0));
                out.println("signalled: value=" + signals.signal(2));
            }

            // The host disconnects when it has got the signal.
            host.isAwaited = true;
            host.mayLeave = true;
            engine.runUntil(() -> host.hasLeft, deadline.remaining(), server);
            ChannelEvents.stop(server, engine, deadline);
        }
    }

    /** State of the host's connection, by its events. */
    private static final class HostWatch {
        /** Whether the program waits for the host; if not, the end of the host is no failure. */
        private boolean isAwaited = true;

        private boolean mayLeave;
        private boolean hasLeft;

        /** Called inside progress, which throws what this throws. */
        void disconnected(ComchConnection connection, @Nullable DpuException reason) {
            if (isAwaited && (reason != null || !mayLeave)) {
                throw new DpuException(
                        Status.CONNECTION_RESET,
                        Text.format(
                                "host has ended before it had both signals: function=%s,"
                                        + " orderly=%s",
                                connection.function(), reason == null),
                        reason);
            }
            hasLeft = true;
        }
    }
}
