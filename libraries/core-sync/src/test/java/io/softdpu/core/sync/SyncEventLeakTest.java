package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.core.execution.SanitizerReport;
import io.softdpu.core.execution.SanitizerReport.Kind;
import io.softdpu.core.resource.OpenResource;
import io.softdpu.core.resource.ResourceTracking;
import io.softdpu.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Events that are never closed, and waits under the sanitizer. */
class SyncEventLeakTest extends SyncEventFixture {
    @Test
    void shouldReportAnEventThatKeepsItsDeviceOpen() {
        List<SanitizerReport> reports = new ArrayList<>();
        try (Sanitizer sanitizer = Sanitizer.startForThread(7)) {
            sanitizer.setListener(reports::add);
            Device device = machines.open(Side.HOST).findDevice("pf0").open();
            SyncEvent event =
                    SyncEvent.create(device)
                            .addPublisherLocation(SyncEventLocation.CPU)
                            .addSubscriberLocation(SyncEventLocation.CPU)
                            .start();
            Thrown.with(Status.IN_USE, device::close).hasMessageContaining("sync event");
            Thrown.with(Status.IN_USE, device::close);
            assertThat(reports).hasSize(1); // once
            assertThat(reports.getFirst().kind()).isEqualTo(Kind.EVENT_LEAKED);
            assertThat(reports.getFirst().message()).contains("event=" + event);
            assertThat(reports.getFirst().allocatedAt().getStackTrace())
                    .extracting(StackTraceElement::getClassName)
                    .contains(getClass().getName());
            event.stop();
            event.close();
            device.close();
            assertThat(sanitizer.reports(Kind.EVENT_LEAKED)).isEqualTo(1);
        }
    }

    @Test
    void shouldBeTrackedFromItsStartUntilItIsClosed() {
        try (ResourceTracking tracking = ResourceTracking.start()) {
            SyncEvent event = configured();
            assertThat(tracking.open()).as("keeps nothing open").isEmpty();
            event.start();
            assertThat(tracking.open())
                    .filteredOn(resource -> resource.kind().equals("sync-event"))
                    .extracting(OpenResource::createdAt)
                    .singleElement()
                    .satisfies(place ->
                            assertThat(place.getStackTrace())
                                    .extracting(StackTraceElement::getClassName)
                                    .contains(getClass().getName()));
            event.stop();
            event.close();
            assertThat(tracking.open())
                    .filteredOn(resource -> resource.kind().equals("sync-event"))
                    .isEmpty();
        }
    }

    /** Late under the sanitizer, but never lost. */
    @Test
    void shouldReportEachSatisfiedWait() {
        for (int seed = 1; seed <= 20; seed++) {
            try (Sanitizer sanitizer = Sanitizer.startForThread(seed);
                    ProgressEngine engine = ProgressEngine.create()) {
                int waits = 8;
                SyncEvent event = configured();
                int[] completed = new int[1];
                SyncEventContext context =
                        event.asContext()
                                .setWaitGreaterTasks(
                                        waits,
                                        task -> {
                                            completed[0]++;
                                            task.free();
                                        },
                                        task -> {});
                engine.connect(context);
                context.start();
                SyncEvent other = imported(event).start();
                for (int i = 0; i < waits; i++) {
                    SyncEventWaitTask wait = context.allocateWaitGreater(i, ALL);
                    while (wait.trySubmit() == Status.AGAIN) {
                        engine.progress(); // the sanitizer refuses some
                    }
                }
                for (int i = 1; i <= waits; i++) {
                    other.set(i);
                    engine.progress();
                }
                engine.runUntil(() -> completed[0] == waits, Patience.LIMIT, context);
                context.stop();
                event.close();
                assertThat(sanitizer.reports()).isZero();
            }
        }
    }
}
