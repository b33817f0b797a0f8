package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.check.Threads;
import io.softdpu.core.device.Device;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One handle in synchronous mode. */
class SyncEventTest extends SyncEventFixture {
    private static final Duration NOW = Duration.ZERO;

    // ---- creation, configuration, states ----

    @Test
    @Clause({"core-175", "core-182"})
    void shouldStartAtZeroAsTheCpuHandle() {
        SyncEvent event = started();
        assertThat(event.isImported()).isFalse();
        assertThat(event.isStarted()).isTrue();
        assertThat(event.device()).isSameAs(pf0);
        assertThat(event.get()).isZero();
        assertThat(SyncEvent.class.getDeclaredConstructors())
                .allMatch(constructor -> Modifier.isPrivate(constructor.getModifiers()));
    }

    @Test
    @Clause("core-177")
    void shouldRequireBothLocationsBeforeTheStart() {
        SyncEvent event = closedLater(SyncEvent.create(pf0));
        Thrown.with(Status.BAD_STATE, event::start).hasMessageContaining("item=publisher location");
        event.addPublisherLocation(SyncEventLocation.CPU);
        Thrown.with(Status.BAD_STATE, event::start)
                .hasMessageContaining("item=subscriber location");
        event.addSubscriberLocation(SyncEventLocation.CPU);
        event.start();
        assertThat(event.publisherLocation()).isEqualTo(SyncEventLocation.CPU);
        assertThat(event.subscriberLocation()).isEqualTo(SyncEventLocation.CPU);
    }

    @ParameterizedTest
    @EnumSource(
            value = SyncEventLocation.class,
            names = {"CPU", "DPU"})
    @Clause({"core-169", "core-178", "core-179"})
    void shouldHaveOneLocationOfEachKind(SyncEventLocation location) {
        SyncEvent event = closedLater(SyncEvent.create(pf0));
        assertThat(event.addPublisherLocation(location)).isSameAs(event);
        Thrown.with(Status.ALREADY_EXIST, () -> event.addPublisherLocation(SyncEventLocation.CPU))
                .hasMessageContaining("publisher location: location=" + location);
        assertThat(event.addSubscriberLocation(location)).isSameAs(event);
        Thrown.with(Status.ALREADY_EXIST, () -> event.addSubscriberLocation(location))
                .hasMessageContaining("subscriber location: location=" + location);
    }

    @ParameterizedTest
    @EnumSource(
            value = SyncEventLocation.class,
            names = {"DPA", "GPU"})
    @Clause(
            value = "core-165",
            refused = "no DPA or GPU on this machine: adr/0057-sync-events-by-private-pages.md")
    void shouldRefuseLocationsThatNoMachineHas(SyncEventLocation location) {
        SyncEvent event = closedLater(SyncEvent.create(pf0));
        Thrown.with(Status.NOT_SUPPORTED, () -> event.addPublisherLocation(location))
                .hasMessageContaining("location=" + location);
        Thrown.with(Status.NOT_SUPPORTED, () -> event.addSubscriberLocation(location))
                .hasMessageContaining("location=" + location);
        assertThat(event.publisherLocation()).isNull();
        assertThat(event.subscriberLocation()).isNull();
    }

    @Test
    @Clause(
            value = {"core-173", "core-174"},
            refused = "no DPA or GPU on this machine: adr/0057-sync-events-by-private-pages.md")
    void shouldRefuseExportsForProcessorsThatNoMachineHas() {
        SyncEvent event = started();
        Thrown.with(Status.NOT_SUPPORTED, () -> event.exportDpa(pf0))
                .hasMessageContaining("location=DPA");
        Thrown.with(Status.NOT_SUPPORTED, () -> event.exportGpu(pf0))
                .hasMessageContaining("location=GPU");
    }

    @Test
    @Clause("core-202")
    void shouldNotStartAgainAfterAStop() {
        SyncEvent event = started();
        event.stop();
        assertThat(event.isStarted()).isFalse();
        Thrown.with(Status.BAD_STATE, event::start)
                .hasMessageContaining("can only be closed")
                .hasMessageContaining("state=STOPPED");
        Thrown.with(Status.BAD_STATE, event::asContext);
        Thrown.with(Status.BAD_STATE, event::stop);
        Thrown.with(Status.BAD_STATE, () -> event.set(1));
        Thrown.with(Status.BAD_STATE, () -> event.addPublisherLocation(SyncEventLocation.CPU));
    }

    @Test
    @Clause({"core-200", "core-203"})
    void shouldBeStoppedBeforeItIsClosed() {
        SyncEvent event = started();
        Thrown.with(Status.IN_USE, event::close).hasMessageContaining("expected=stop first");
        event.set(3);
        assertThat(event.get()).isEqualTo(3);
        event.stop();
        event.close();
        event.close();
        Thrown.with(Status.BAD_STATE, event::start).hasMessageContaining("state=CLOSED");
        Thrown.with(Status.BAD_STATE, event::get);
    }

    @Test
    @Clause("core-204")
    void shouldReleaseItsDeviceAndItsContext() {
        Device device = machines.open(Side.HOST).findDevice("pf0").open();
        SyncEvent event =
                SyncEvent.create(device)
                        .addPublisherLocation(SyncEventLocation.CPU)
                        .addSubscriberLocation(SyncEventLocation.CPU);
        SyncEventContext context = event.asContext();
        context.start();
        Thrown.with(Status.IN_USE, device::close).hasMessageContaining("sync event");
        context.stop();
        event.close();
        Thrown.with(Status.BAD_STATE, context::start).hasMessageContaining("closed");
        device.close();
    }

    // ---- operations ----

    @Test
    @Clause({"core-188", "core-192"})
    void shouldSetAndGetAnyNumberOf64Bits() {
        SyncEvent event = started();
        for (long value :
                new long[] {1, 0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0x0102030405060708L}) {
            event.set(value);
            assertThat(event.get()).isEqualTo(value);
        }
    }

    @Test
    @Clause({"core-166", "core-190"})
    void shouldAddReturnTheValueBeforeAndWrap() {
        SyncEvent event = started();
        assertThat(event.add(5)).isZero();
        assertThat(event.add(7)).isEqualTo(5);
        event.set(-1);
        assertThat(event.add(2)).isEqualTo(-1);
        assertThat(event.get()).isEqualTo(1);
    }

    @Test
    @Clause("core-194")
    void shouldNotEndAWaitForGreaterAtAnEqualValue() {
        SyncEvent event = started();
        event.set(7);
        Thrown.with(Status.TIME_OUT, () -> event.waitGreater(7, ALL, NOW))
                .hasMessageContaining(
                        "condition=GREATER, operand=7, mask=0xffffffffffffffff, value=7");
        event.waitGreater(6, ALL);
        event.set(-1); // the greatest of all, unsigned
        event.waitGreater(Long.MAX_VALUE, ALL, NOW);
        Thrown.with(Status.TIME_OUT, () -> event.waitGreater(-1, ALL, NOW));
    }

    @Test
    void shouldCompareTheMaskedValue() {
        SyncEvent event = started();
        event.set(0x1234);
        event.waitEqual(0x34, 0xff);
        event.waitEqualYield(0x34, 0xff);
        event.waitNotEqual(0x1234, 0xff);
        event.waitNotEqualYield(0x1234, 0xff);
        event.waitGreater(0x33, 0xff);
        event.waitGreaterYield(0x33, 0xff);
        Thrown.with(Status.TIME_OUT, () -> event.waitGreater(0x34, 0xff, NOW));
        Thrown.with(Status.TIME_OUT, () -> event.waitGreaterYield(0x34, 0xff, NOW));
        Thrown.with(Status.TIME_OUT, () -> event.waitEqual(0x1234, 0xff, NOW));
        Thrown.with(Status.TIME_OUT, () -> event.waitEqualYield(0x1234, 0xff, NOW));
        Thrown.with(Status.TIME_OUT, () -> event.waitNotEqual(0x34, 0xff, NOW));
        Thrown.with(Status.TIME_OUT, () -> event.waitNotEqualYield(0x34, 0xff, NOW));
    }

    @Test
    @Clause({"core-172", "core-183", "core-195"})
    void shouldContinueTheWaitingThreadAfterTheUpdate() throws Exception {
        for (boolean yielding : new boolean[] {false, true}) {
            SyncEvent event = started();
            CompletableFuture<Long> waiting =
                    CompletableFuture.supplyAsync(() -> {
                        if (yielding) {
                            event.waitGreaterYield(1, ALL);
                        } else {
                            event.waitGreater(1, ALL);
                        }
                        return event.get();
                    });
            event.set(1);
            assertThat(waiting).isNotDone();
            event.add(1);
            assertThat(waiting.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(2);
        }
    }

    @Test
    void shouldEndAWaitOfAnInterruptedThread() {
        SyncEvent event = started();
        Thread.currentThread().interrupt();
        try {
            Thrown.with(Status.CONNECTION_ABORTED, () -> event.waitGreater(0, ALL))
                    .hasMessageContaining("interrupted");
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            Thrown.with(Status.CONNECTION_ABORTED, () -> event.waitGreaterYield(0, ALL));
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        event.set(1);
        event.waitGreater(0, ALL);
    }

    @Test
    void shouldEndAWaitWhenAnotherThreadStopsTheEvent() throws Exception {
        SyncEvent event = started();
        CompletableFuture<Void> waiting =
                CompletableFuture.runAsync(() -> event.waitGreaterYield(0, ALL));
        event.set(0);
        event.stop();
        assertThat(waiting.handle((_, failure) -> failure).get(Patience.SECONDS, TimeUnit.SECONDS))
                .satisfiesAnyOf(
                        failure -> assertThat(failure.getCause()).hasMessageContaining("stopped"),
                        failure -> assertThat(failure.getCause()).hasMessageContaining("started"));
    }

    @Test
    void shouldRefuseATimeoutThatIsNegative() {
        SyncEvent event = started();
        Thrown.with(Status.INVALID_VALUE, () -> event.waitGreater(0, ALL, Duration.ofNanos(-1)));
    }

    // ---- threads ----

    @Test
    @Clause("core-224")
    void shouldKeepEachHalfForTheThreadThatUsedItFirst() throws Exception {
        SyncEvent event = started();
        event.set(1); // publishing: this thread
        CompletableFuture<Void> ran = new CompletableFuture<>();
        String own = Threads.current();
        Thread.ofPlatform()
                .name("other")
                .start(() -> {
                    try {
                        assertThat(event.get()).isEqualTo(1);
                        Thrown.with(Status.NOT_PERMITTED, () -> event.set(2))
                                .hasMessageContaining("publishing half")
                                .hasMessageContainingAll("thread=other#", ", eventThread=" + own);
                        Thrown.with(Status.NOT_PERMITTED, () -> event.add(2));
                        ran.complete(null);
                    } catch (Throwable e) {
                        ran.completeExceptionally(e);
                    }
                });
        ran.get(Patience.SECONDS, TimeUnit.SECONDS);
        Thrown.with(Status.NOT_PERMITTED, event::get)
                .hasMessageContaining("subscribing half")
                .hasMessageContaining("eventThread=other#");
        Thrown.with(Status.NOT_PERMITTED, () -> event.waitGreater(0, ALL));
        assertThat(event.add(1)).isEqualTo(1);
    }

    // ---- memory of the program ----

    @Test
    @Clause({"core-180", "core-181"})
    void shouldUseMemoryOfTheProgram() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        memory.segment().set(ValueLayout.JAVA_LONG, 0, 41);
        SyncEvent event = configured().setMemory(memory).start();
        assertThat(event.get()).isEqualTo(41);
        event.add(1);
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
        memory.segment().set(ValueLayout.JAVA_LONG, 0, 50);
        event.waitEqual(50, ALL);
        Thrown.with(Status.IN_USE, memory::close).hasMessageContaining("sync event");
        event.stop();
        event.close();
        assertThat(memory.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(50);
        SyncEvent second = configured().setMemory(memory).start();
        assertThat(second.get()).isEqualTo(50);
    }

    @Test
    @Clause("core-180")
    void shouldRefuseOtherMemory() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        SyncEvent event = configured();
        for (long size : new long[] {1, 7, 9, 16, 4096}) {
            SharedMemory other = machines.add(SharedMemory.allocate(size));
            Thrown.with(Status.NOT_SUPPORTED, () -> event.setMemory(other))
                    .hasMessageContaining("sizeBytes=" + size)
                    .hasMessageContaining("expected=SharedMemory.allocate(8)");
        }
        event.setMemory(memory);
        Thrown.with(Status.ALREADY_EXIST, () -> event.setMemory(memory));
        SyncEvent another = configured().setMemory(memory);
        event.start();
        Thrown.with(Status.IN_USE, another::start).hasMessageContaining("another sync event");
        event.stop();
        event.close();
        assertThat(another.start().get()).as("as it was").isZero();
        SharedMemory closed = SharedMemory.allocate(8);
        closed.close();
        SyncEvent third = configured();
        Thrown.with(Status.BAD_STATE, () -> third.setMemory(closed));
    }

    @Test
    void shouldNotStartOnWhatWasClosedMeanwhile() {
        SharedMemory memory = SharedMemory.allocate(8);
        SyncEvent event = configured().setMemory(memory);
        memory.close();
        Thrown.with(Status.BAD_STATE, event::start)
                .hasMessageContainingAll("sharedMemoryBytes=8", "user=" + event);
        Device device = machines.open(Side.HOST).findDevice("pf0").open();
        SyncEvent synchronous =
                SyncEvent.create(device)
                        .addPublisherLocation(SyncEventLocation.CPU)
                        .addSubscriberLocation(SyncEventLocation.CPU);
        SyncEvent asynchronous =
                SyncEvent.create(device)
                        .addPublisherLocation(SyncEventLocation.CPU)
                        .addSubscriberLocation(SyncEventLocation.CPU);
        SyncEventContext context = asynchronous.asContext();
        device.close();
        Thrown.with(Status.BAD_STATE, synchronous::start)
                .hasMessageContainingAll("device=" + device, "user=" + synchronous);
        Thrown.with(Status.BAD_STATE, context::start)
                .hasMessageContainingAll("device=" + device, "user=" + context);
        Thrown.with(Status.BAD_STATE, () -> SyncEvent.create(device));
        asynchronous.close();
        synchronous.close();
    }

    @Test
    @Clause("core-180")
    void shouldRefuseMemoryForOtherLocationsThanCpuAndDpu() {
        SharedMemory memory = machines.add(SharedMemory.allocate(8));
        SyncEvent event =
                closedLater(
                        SyncEvent.create(pf0)
                                .addPublisherLocation(SyncEventLocation.CPU)
                                .addSubscriberLocation(SyncEventLocation.CPU)
                                .setMemory(memory));
        Thrown.with(Status.NOT_PERMITTED, event::start)
                .hasMessageContaining("publisher=CPU, subscriber=CPU");
    }

    // ---- cost ----

    @Test
    @Clause("core-003")
    void shouldOperateWithoutAllocation() {
        SyncEvent event = started();
        long[] sum = new long[1];
        AllocationMeter.assertNone(
                50_000,
                () -> {
                    event.set(sum[0]);
                    sum[0] += event.add(3) + event.get();
                    event.waitNotEqual(sum[0] + 1, ALL);
                });
        assertThat(sum[0]).isNotZero();
    }

    @Test
    @Clause("core-190")
    void shouldLoseNoAdditionOfSeveralHandlesAtOnce() throws Exception {
        SyncEvent event = started();
        int handles = 3;
        int rounds = 20_000;
        CompletableFuture<?>[] adding = new CompletableFuture<?>[handles];
        for (int i = 0; i < handles; i++) {
            SyncEvent handle = imported(event).start();
            adding[i] =
                    CompletableFuture.runAsync(() -> {
                        for (int round = 0; round < rounds; round++) {
                            handle.add(1);
                        }
                    });
        }
        for (int round = 0; round < rounds; round++) {
            event.add(1);
        }
        try {
            CompletableFuture.allOf(adding).get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError(e.getCause());
        }
        assertThat(event.get()).isEqualTo((handles + 1L) * rounds);
    }
}
