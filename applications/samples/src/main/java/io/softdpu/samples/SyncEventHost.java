package io.softdpu.samples;

import io.softdpu.comch.ComchClient;
import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventLocation;
import java.io.PrintStream;
import java.util.List;

/**
 * The host side of two signals by one sync event: creates the event, exports it to the DPU by a
 * message of the Comm Channel, signals, and waits for the DPU's signal. To be started after {@code
 * sync-event-dpu}; here it also waits for a DPU that starts later.
 */
final class SyncEventHost implements Sample {
    @Override
    public String name() {
        return "sync-event-host";
    }

    @Override
    public String summary() {
        return "Shares a sync event with sync-event-dpu, signals it, and waits for its signal.";
    }

    @Override
    public String output() {
        return "The value that is signalled, and the one by which the DPU has answered; no message"
                + " carries either.";
    }

    @Override
    public String source() {
        return "shared() configures the event; the order of run(): started, exported, sent,"
                + " signalled, waited for.";
    }

    @Override
    public List<SampleOption> options() {
        return SyncEventSettings.OF_HOST;
    }

    @Override
    public List<String> exampleArguments() {
        return List.of("-d 0b:00.0");
    }

    @Override
    public void run(SampleSettings settings, PrintStream out) {
        SyncEventSettings chosen = SyncEventSettings.of(settings);
        Deadline deadline = Deadline.in(settings.timeout());
        try (Machine machine = Machine.builder(Side.HOST).topology(settings.topology()).open();
                Device device = SyncEventSettings.function(machine, settings).open();
                SyncEvent event = shared(device);
                EventSignals signals = EventSignals.start(event, chosen, deadline);
                ProgressEngine engine = ProgressEngine.create();
                ComchClient client = ComchClient.create(device, SyncEventSettings.SERVER)) {
            client.setConnectTimeout(settings.timeout()); // it looks for its server that long
            MessageChannel channel = new MessageChannel(client, engine, deadline);
            engine.start(client, deadline.remaining()); // returns when it is connected
            out.println("connected to sync-event-dpu");

            byte[] blob = event.exportPci(device);
            channel.send(client.connection(), blob);
            out.println("exported: bytes=" + blob.length);

            out.println("signalled: value=" + signals.signal(1));
            out.println("waited: value=" + signals.awaitGreater(1));
            ChannelEvents.stop(client, engine, deadline); // the DPU waits for that
        }
    }

    /** An event that the host publishes and the DPU subscribes to; each side does both here. */
    private static SyncEvent shared(Device device) {
        SyncEvent event = SyncEvent.create(device);
        event.addPublisherLocation(SyncEventLocation.CPU);
        event.addSubscriberLocation(SyncEventLocation.DPU);
        return event;
    }
}
