package io.softdpu.core.sync;

import io.softdpu.core.Side;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ProgressEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Process whose heap has no room for the tasks of a sync event: its start fails, and succeeds with
 * fewer tasks. Arguments: folder; {@code cpu} or {@code dpu}, the handle that is started.
 */
public final class FailedStart {
    private static final int STEP_BYTES = 1 << 20;

    private FailedStart() {}

    public static void main(String[] arguments) {
        Path folder = Path.of(arguments[0]);
        boolean imported = arguments[1].equals("dpu");
        try (Machine host = Machine.builder(Side.HOST).fabricFolder(folder).open();
                Machine card = Machine.builder(Side.DPU).fabricFolder(folder).open();
                Device function = host.findDevice("pf0").open();
                Device port = card.findDevice("p0").open();
                ProgressEngine engine = ProgressEngine.create();
                SyncEvent cpu =
                        SyncEvent.create(function)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.DPU)) {
            SyncEvent event = cpu;
            if (imported) {
                cpu.start();
                event = SyncEvent.createFromExport(cpu.exportPci(function), port);
            }
            start(event, engine);
            if (imported) {
                event.close();
                cpu.stop();
            }
        }
        System.out.println("closed");
    }

    private static void start(SyncEvent event, ProgressEngine engine) {
        SyncEventContext context = event.asContext();
        engine.connect(context);
        int most = context.capabilities().maxTasks();
        configure(context, most);
        List<byte[]> filling = fill();
        boolean failed = false;
        try {
            context.start();
        } catch (OutOfMemoryError e) {
            failed = true;
        }
        filling.clear();
        System.out.println("failed " + failed + ", started " + event.isStarted());
        configure(context, 1);
        context.start();
        SyncEventSetTask set = context.allocateSet(7);
        set.submit();
        while (engine.progress()) {
            // until it is done
        }
        set.free();
        SyncEventGetTask get = context.allocateGet();
        get.submit();
        while (engine.progress()) {
            // until it is done
        }
        System.out.println("value " + get.value());
        get.free();
        context.stop();
    }

    private static void configure(SyncEventContext context, int tasks) {
        context.setSetTasks(tasks, task -> {}, task -> {})
                .setAddTasks(tasks, task -> {}, task -> {})
                .setGetTasks(tasks, task -> {}, task -> {});
    }

    /** Takes the heap but for a little. */
    private static List<byte[]> fill() {
        List<byte[]> filling = new ArrayList<>();
        try {
            while (true) {
                filling.add(new byte[STEP_BYTES]);
            }
        } catch (OutOfMemoryError e) {
            filling.removeLast();
            filling.removeLast();
            return filling;
        }
    }
}
