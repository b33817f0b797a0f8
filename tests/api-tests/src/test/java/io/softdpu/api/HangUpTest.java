package io.softdpu.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchProducer;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.spi.BusServices;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.core.sync.SyncEventContext;
import io.softdpu.core.sync.SyncEventLocation;
import io.softdpu.fabric.BlockedClosers;
import io.softdpu.rdma.RdmaConnection;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Ends of peers and of contexts while another peer blocks all closing threads of the DPU: the
 * sockets of the links stay open, but wake no engine again and again.
 */
final class HangUpTest extends EnvironmentFixture {
    /** How long the engine waits for events that do not come. */
    private static final Duration PERIOD = Duration.ofMillis(500);

    /** A few notifications tell of an end; an epoll that has the socket is ready without end. */
    private static final int MANY_NOTIFICATIONS = 100;

    private FixtureScope scope;
    private BlockedClosers closers;

    @BeforeEach
    void blockClosingThreads() throws IOException {
        scope = new FixtureScope(environment);
        closers = new BlockedClosers(BusServices.bus(environment.p0));
    }

    @AfterEach
    void close() throws Exception {
        boolean wereBlocked = closers.isEffective();
        closers.close();
        scope.close();
        assertThat(wereBlocked).as("all closing threads were blocked").isTrue();
    }

    private void assertQuiet() {
        ProgressEngine engine = scope.engine();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begin = threads.getCurrentThreadCpuTime();
        long end = System.nanoTime() + PERIOD.toNanos();
        while (System.nanoTime() - end < 0) {
            engine.awaitUntil(end);
        }
        assertThat(Duration.ofNanos(threads.getCurrentThreadCpuTime() - begin))
                .as("processor time in %s", PERIOD)
                .isLessThan(PERIOD.dividedBy(2));

        int notifications = 0;
        engine.requestNotification();
        while (notifications < MANY_NOTIFICATIONS && engine.awaitNotification(Duration.ZERO)) {
            notifications++;
            engine.clearNotification();
            engine.progress();
            engine.requestNotification();
        }
        assertThat(notifications).as("notifications").isLessThan(MANY_NOTIFICATIONS);
    }

    @Test
    void shouldBeQuietAfterTheEndOfAClient() {
        FixtureScope.Pair pair = scope.pair();

        scope.stop(pair.client());
        scope.until("the server knows of it", () -> !pair.atServer().isConnected());

        assertQuiet();
    }

    @Test
    void shouldBeQuietAfterAConnectionThatTheServerEnds() {
        FixtureScope.Pair pair = scope.pair();

        pair.atServer().disconnect();
        scope.until("the client knows of it", () -> !pair.atClient().isConnected());

        assertQuiet();
    }

    @Test
    void shouldBeQuietAfterTheEndOfAProducer() {
        FixtureScope.Pair pair = scope.pair();
        start(
                scope.keep(ComchConsumer.create(pair.atServer(), scope.mmap(environment.p0)))
                        .setPostReceiveTasks(1, task -> {}, task -> {}));
        ComchProducer producer =
                scope.keep(ComchProducer.create(pair.atClient()))
                        .setSendTasks(1, task -> {}, task -> {});
        start(producer);
        scope.until("consumer is known", () -> pair.atClient().remoteConsumers().length == 1);

        scope.stop(producer);

        assertQuiet();
    }

    @Test
    void shouldBeQuietAfterTheEndOfAConsumer() {
        FixtureScope.Pair pair = scope.pair();
        ComchConsumer consumer =
                scope.keep(ComchConsumer.create(pair.atClient(), scope.mmap(environment.pf0)))
                        .setPostReceiveTasks(1, task -> {}, task -> {});
        start(consumer);
        start(
                scope.keep(ComchProducer.create(pair.atServer()))
                        .setSendTasks(1, task -> {}, task -> {}));
        scope.until("consumer is known", () -> pair.atServer().remoteConsumers().length == 1);

        scope.stop(consumer);
        scope.until("end is known", () -> pair.atServer().remoteConsumers().length == 0);

        assertQuiet();
    }

    @Test
    void shouldBeQuietAfterTheEndOfAnRdmaPeer() {
        FixtureScope.Link link = scope.link();

        scope.stop(link.far());
        scope.until(
                "connection has ended",
                () -> link.here().state() != RdmaConnection.State.CONNECTED);

        assertQuiet();
    }

    @Test
    void shouldBeQuietAfterAnRdmaConnectionThatThisSideEnds() {
        FixtureScope.Link link = scope.link();

        link.here().disconnect();
        scope.until(
                "connection has ended",
                () -> link.there().state() != RdmaConnection.State.CONNECTED);

        assertQuiet();
    }

    @Test
    void shouldBeQuietAfterTheEndOfASyncEvent() {
        SyncEvent event =
                scope.keep(SyncEvent.create(environment.pf0))
                        .addPublisherLocation(SyncEventLocation.CPU)
                        .addSubscriberLocation(SyncEventLocation.DPU)
                        .start();
        SyncEvent handle =
                scope.keep(
                        SyncEvent.createFromExport(
                                event.exportPci(environment.pf0), environment.p0));
        SyncEventContext context =
                scope.keep(handle.asContext()).setWaitGreaterTasks(1, task -> {}, task -> {});
        start(context);
        scope.keep(context.allocateWaitGreater(0, SyncEvent.ALL_BITS)).submit();
        assertQuiet(); // and listens to the link of the event

        event.stop();
        event.close();
        scope.until("the wait has failed", () -> context.inFlightTasks() == 0);

        assertQuiet();
    }

    private void start(Context context) {
        scope.engine().connect(context);
        context.start();
        scope.until("started", () -> context.state() == ContextState.RUNNING);
    }
}
