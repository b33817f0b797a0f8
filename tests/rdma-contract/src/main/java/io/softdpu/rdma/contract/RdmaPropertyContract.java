package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaTaskType;
import io.softdpu.rdma.RdmaTransportType;
import io.softdpu.testkit.Clause;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every property of an instance: default, setter, getter, range and effect; over every provider.
 */
public abstract class RdmaPropertyContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaPropertyContract() {}

    /** The properties, each with a default, a value that is set and read, and values refused. */
    @SuppressWarnings("ImmutableEnumChecker") // functions without state, and values
    enum Property {
        PERMISSIONS(
                Rdma::permissions,
                Permissions.LOCAL_READ_ONLY,
                Permissions.of(AccessFlag.RDMA_ATOMIC),
                (rdma, value) -> rdma.setPermissions((Permissions) value),
                can ->
                        List.of(
                                Permissions.of(AccessFlag.PCI_READ_ONLY),
                                Permissions.of(AccessFlag.PCI_READ_WRITE))),
        SEND_QUEUE_SIZE(
                Rdma::sendQueueSize,
                Rdma.DEFAULT_SEND_QUEUE_SIZE,
                64,
                (rdma, value) -> rdma.setSendQueueSize((int) value),
                can -> List.of(-1, 0, can.maxSendQueueSize() + 1, Integer.MAX_VALUE)),
        RECEIVE_QUEUE_SIZE(
                Rdma::receiveQueueSize,
                1,
                32,
                (rdma, value) -> rdma.setReceiveQueueSize((int) value),
                can -> List.of(-1, 0, can.maxReceiveQueueSize() + 1, Integer.MAX_VALUE)),
        MAX_SEND_BUFFER_LIST_LENGTH(
                Rdma::maxSendBufferListLength,
                1,
                5,
                (rdma, value) -> rdma.setMaxSendBufferListLength((int) value),
                can -> List.of(-1, 0, can.maxSendBufferListLength() + 1, Integer.MAX_VALUE)),
        RECEIVE_BUFFER_LIST_LENGTH(
                Rdma::receiveBufferListLength,
                1,
                5,
                (rdma, value) -> rdma.setReceiveBufferListLength((int) value),
                can -> List.of(-1, 0, can.maxReceiveBufferListLength() + 1, Integer.MAX_VALUE)),
        MAX_CONNECTIONS(
                Rdma::maxConnections,
                1,
                3,
                (rdma, value) -> rdma.setMaxConnections((int) value),
                can -> List.of(-1, 0, can.maxConnections() + 1)),
        PATH_MTU(
                Rdma::pathMtuBytes,
                Rdma.DEFAULT_PATH_MTU_BYTES,
                2048,
                (rdma, value) -> rdma.setPathMtuBytes((int) value),
                can ->
                        List.of(
                                -1,
                                0,
                                can.minPathMtuBytes() - 1,
                                can.minPathMtuBytes() + 1,
                                can.maxPathMtuBytes() + 1,
                                2 * can.maxPathMtuBytes())),
        GID_INDEX(
                Rdma::gidIndex,
                0,
                1,
                (rdma, value) -> rdma.setGidIndex((int) value),
                can -> List.of(-1, can.gidAddresses().size())),
        RNR_RETRIES(
                Rdma::rnrRetries,
                Rdma.DEFAULT_RNR_RETRIES,
                3,
                (rdma, value) -> rdma.setRnrRetries((int) value),
                can -> List.of(-1, 8)),
        RNR_TIMER(
                Rdma::rnrTimer,
                Rdma.DEFAULT_RNR_TIMER,
                Duration.ofNanos(10_000),
                (rdma, value) -> rdma.setRnrTimer((Duration) value),
                can ->
                        List.of(
                                Duration.ZERO,
                                Duration.ofNanos(-1),
                                Duration.ofNanos(655_360_001),
                                Duration.ofSeconds(Long.MAX_VALUE))),
        CONNECT_TIMEOUT(
                Rdma::connectTimeout,
                Rdma.DEFAULT_CONNECT_TIMEOUT,
                Duration.ofSeconds(9),
                (rdma, value) -> rdma.setConnectTimeout((Duration) value),
                can -> List.of(Duration.ZERO, Duration.ofNanos(-1)));

        private final Function<Rdma, Object> get;
        private final Object byDefault;
        private final Object other;
        private final BiConsumer<Rdma, Object> set;
        private final Function<RdmaCapabilities, List<?>> refused;

        Property(
                Function<Rdma, Object> get,
                Object byDefault,
                Object other,
                BiConsumer<Rdma, Object> set,
                Function<RdmaCapabilities, List<?>> refused) {
            this.get = get;
            this.byDefault = byDefault;
            this.other = other;
            this.set = set;
            this.refused = refused;
        }
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-037", "rdma-038", "rdma-039"})
    @Clause({"rdma-041", "rdma-181"})
    void shouldHaveADefaultAndKeepWhatWasSetInIdleAlone(Property property) {
        Peer peer = openNear();
        try (Rdma rdma = Rdma.create(peer.device)) {
            assertThat(property.get.apply(rdma)).as("default").isEqualTo(property.byDefault);
            property.set.accept(rdma, property.other);
            assertThat(property.get.apply(rdma)).as("set").isEqualTo(property.other);
            for (Object value : property.refused.apply(RdmaCapabilities.of(peer.device.info()))) {
                assertThat(Refusals.statusOf(() -> property.set.accept(rdma, value)))
                        .as("%s", value)
                        .isEqualTo(Status.INVALID_VALUE);
                assertThat(property.get.apply(rdma)).as("unchanged").isEqualTo(property.other);
            }
            property.set.accept(rdma, property.byDefault);
            assertThat(property.get.apply(rdma)).isEqualTo(property.byDefault);
        }

        boolean isOtherServed = property != Property.GID_INDEX || environment().hasIpv6();
        Object chosen = isOtherServed ? property.other : property.byDefault;
        Object later = isOtherServed ? property.byDefault : property.other;
        property.set.accept(peer.rdma, chosen);
        Pair pair = connect(peer, openFar());
        assertThat(property.get.apply(peer.rdma)).as("started").isEqualTo(chosen);
        assertThat(Refusals.statusOf(() -> property.set.accept(peer.rdma, later)))
                .as("RUNNING")
                .isEqualTo(Status.BAD_STATE);
        Task kept = peer.rdma.allocateSend(pair.toFar(), null);
        peer.rdma.stop();
        assertThat(peer.rdma.state()).isEqualTo(ContextState.STOPPING);
        assertThat(Refusals.statusOf(() -> property.set.accept(peer.rdma, later)))
                .as("STOPPING")
                .isEqualTo(Status.BAD_STATE);
        assertThat(property.get.apply(peer.rdma)).isEqualTo(chosen);
        kept.free();
    }

    @Test
    @Clause({"rdma-041", "rdma-042"})
    void shouldTakeTheLimitsThatTheCapabilitiesTell() {
        Peer near = openNear();
        RdmaCapabilities can = RdmaCapabilities.of(near.device.info());
        Rdma rdma = near.rdma;
        assertThat(rdma.setReceiveQueueSize(can.maxReceiveQueueSize()).receiveQueueSize())
                .isEqualTo(can.maxReceiveQueueSize());
        assertThat(rdma.setReceiveBufferListLength(can.maxReceiveBufferListLength()))
                .isSameAs(rdma);
        rdma.setSendQueueSize(1);
        assertThat(
                        rdma.setMaxSendBufferListLength(can.maxSendBufferListLength())
                                .maxSendBufferListLength())
                .isEqualTo(can.maxSendBufferListLength())
                .isGreaterThan(1);
        assertThat(can.maxReceiveBufferListLength()).isGreaterThan(1);
        for (int mtu = can.minPathMtuBytes(); mtu <= can.maxPathMtuBytes(); mtu *= 2) {
            assertThat(rdma.setPathMtuBytes(mtu).pathMtuBytes()).isEqualTo(mtu);
        }
        assertThat(can.minPathMtuBytes()).isEqualTo(256);
        assertThat(can.maxPathMtuBytes()).isEqualTo(4096);
    }

    @Test
    @Clause("rdma-040")
    void shouldLimitTheProductOfQueueSizeAndListLength() {
        Peer near = openNear();
        RdmaCapabilities can = RdmaCapabilities.of(near.device.info());
        Rdma rdma = near.rdma;
        int length = can.maxSendBufferListLength();
        int size = Integer.highestOneBit(can.maxSendQueueElements() / length);
        assertThat(size).as("there is a limit").isLessThan(can.maxSendQueueSize());
        rdma.setSendQueueSize(size).setMaxSendBufferListLength(length);
        assertThatThrownBy(() -> rdma.setSendQueueSize(size + 1))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContainingAll(
                        "sendQueueSize=" + 2 * size, "maxSendBufferListLength=" + length);
        assertThat(rdma.sendQueueSize()).isEqualTo(size);
        rdma.setMaxSendBufferListLength(1).setSendQueueSize(can.maxSendQueueSize());
        int tooLong = can.maxSendQueueElements() / can.maxSendQueueSize() + 1;
        assertThat(Refusals.statusOf(() -> rdma.setMaxSendBufferListLength(tooLong)))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(rdma.maxSendBufferListLength()).isEqualTo(1);
    }

    @Test
    @Clause("rdma-040")
    void shouldSubmitAsManyTasksInBulkAsBothPropertiesAllow() {
        Peer near = openConfigured(rdma -> rdma.setSendQueueSize(8).setMaxSendBufferListLength(3));
        Pair pair = connect(near, openFar());
        for (int i = 0; i < 8; i++) {
            var list = near.data(0, 1);
            list.chain(near.data(10, 1));
            list.chain(near.data(20, 1));
            assertThat(near.send(pair.toFar(), list, i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(near.send(pair.toFar(), null, 8)).isEqualTo(Status.AGAIN);
    }

    @Test
    void shouldPostNoMoreReceivesThanTheQueueHolds() {
        Peer near = openConfigured(rdma -> rdma.setReceiveQueueSize(3));
        assertThat(near.rdma.receiveQueueSize()).as("a power of two").isEqualTo(4);
        Pair pair = connect(near, openFar());
        for (int i = 0; i < 4; i++) {
            assertThat(near.receive(null, i)).isEqualTo(Status.SUCCESS);
        }
        assertThat(near.receive(null, 4)).isEqualTo(Status.AGAIN);
        pair.far().send(pair.toNear(), null, 1);
        assertThat(near.next(pair.far()).userData()).isZero();
        assertThat(near.receive(null, 4)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldHaveAReceiveQueueForAllReceiveTasksByDefault() {
        Peer near = openNear();
        near.rdma.setReceiveTasks(77, task -> {}, task -> {});
        assertThat(near.rdma.receiveQueueSize()).isEqualTo(77);
    }

    @ParameterizedTest
    @CsvSource({"256, 4096, 256", "4096, 512, 512", "1024, 1024, 1024"})
    void shouldUseTheLowerPathMtuOfBothEnds(int here, int there, int lower) {
        Peer near = openConfigured(rdma -> rdma.setPathMtuBytes(here));
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setPathMtuBytes(there)));
        near.start();
        RdmaConnection alone = near.rdma.exportConnection();
        assertThat(alone.pathMtuBytes()).as("not connected").isZero();
        assertThat(alone.provider()).as("not connected").isEmpty();
        alone.disconnect();
        Pair pair = connect(near, far);
        assertThat(pair.toFar().pathMtuBytes()).isEqualTo(lower);
        assertThat(pair.toNear().pathMtuBytes()).isEqualTo(lower);
        assertThat(RdmaCapabilities.of(near.device.info()).providers())
                .contains(pair.toFar().provider());
        assertThat(pair.toNear().provider()).isEqualTo(pair.toFar().provider());
        assertThat(near.rdma.pathMtuBytes()).as("as it was set").isEqualTo(here);

        far.receive(far.room(0, 10_000), 1);
        near.fill(0, 10_000, 3);
        near.send(pair.toFar(), near.data(0, 10_000), 2);
        assertThat(far.next(near).length()).isEqualTo(10_000);
        assertThat(far.mismatch(0, 10_000, 3)).isEqualTo(-1);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 10000",
        "10000, 10000",
        "10001, 20000",
        "1000000, 1280000",
        "491520000, 491520000",
        "491520001, 655360000",
        "655360000, 655360000"
    })
    void shouldRoundTheRnrTimerUpToAStep(long setNanos, long stepNanos) {
        Peer near = openNear();
        assertThat(near.rdma.setRnrTimer(Duration.ofNanos(setNanos)).rnrTimer())
                .isEqualTo(Duration.ofNanos(stepNanos));
    }

    /** The receiver's timer is what the sender waits for, once per retry. */
    @Test
    void shouldRepeatAMessageAfterTheRnrTimerOfThePeer() {
        int retries = 3;
        Peer near =
                openConfigured(
                        rdma -> rdma.setRnrRetries(retries).setRnrTimer(Duration.ofNanos(1)));
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setRnrTimer(Duration.ofMillis(80))));
        Pair pair = connect(near, far);
        long stepNanos = far.rdma.rnrTimer().toNanos();
        long begin = System.nanoTime();
        near.send(pair.toFar(), near.data(0, 8), 1);
        Peer.Outcome outcome = near.next(far);
        long tookNanos = System.nanoTime() - begin;
        System.out.println("RNR retries: stepNanos=" + stepNanos + ", tookNanos=" + tookNanos);
        assertThat(outcome.status()).isEqualTo(Status.IO_FAILED);
        assertThat(tookNanos).isGreaterThanOrEqualTo(retries * stepNanos);
    }

    @Test
    @Clause("rdma-007")
    void shouldSupportTheReliableConnectionAlone() {
        Peer near = openNear();
        RdmaCapabilities can = RdmaCapabilities.of(near.device.info());
        Capabilities uniform = Capabilities.of(near.device.info(), "rdma");
        assertThat(near.rdma.transportType()).isEqualTo(RdmaTransportType.RC);
        for (RdmaTransportType type : RdmaTransportType.values()) {
            boolean supported = type == RdmaTransportType.RC;
            assertThat(can.isSupported(type)).isEqualTo(supported);
            assertThat(uniform.isSupported("transport_" + type.name().toLowerCase(Locale.ROOT)))
                    .isEqualTo(supported);
            assertThat(Refusals.statusOf(() -> near.rdma.setTransportType(type)))
                    .isEqualTo(supported ? Status.SUCCESS : Status.NOT_SUPPORTED);
        }
        assertThat(near.rdma.transportType()).isEqualTo(RdmaTransportType.RC);
        connect(near, openFar());
        assertThat(Refusals.statusOf(() -> near.rdma.setTransportType(RdmaTransportType.RC)))
                .isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldHaveBothAddressesOfTheDeviceAsGids() {
        Peer near = openNear();
        DeviceInfo info = near.device.info();
        List<InetAddress> gids = RdmaCapabilities.of(info).gidAddresses();
        assertThat(gids).containsExactly(info.function().ipv4(), info.function().ipv6());
        byte[] mapped = info.function().gid();
        assertThat(Arrays.copyOfRange(mapped, 12, 16)).isEqualTo(gids.get(0).getAddress());
        assertThat(Capabilities.of(info, "rdma").limit("gids")).isEqualTo(2);
        assumeTrue(environment().hasIpv6(), "no IPv6");
        near.rdma.setGidIndex(1);
        Pair pair = connect(near, openFar());
        assertThat(pair.toFar().state()).isEqualTo(RdmaConnection.State.CONNECTED);
    }

    @Test
    void shouldUseTheProviderThatWasSet() {
        Peer near = openNear();
        Peer far = openFar();
        List<String> known = RdmaCapabilities.of(near.device.info()).providers();
        assertThat(near.rdma.provider()).isEqualTo(Rdma.ANY_PROVIDER);
        List<String> missing = new ArrayList<>(List.of("pigeon", "shm", "roce"));
        missing.removeAll(known);
        for (String name : missing) {
            assertThatThrownBy(() -> near.rdma.setProvider(name))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
                    .hasMessageContaining("provider=" + name)
                    .hasMessageEndingWith("expected=auto or one of " + known);
        }
        assertThat(near.rdma.provider()).isEqualTo(Rdma.ANY_PROVIDER);

        near.rdma.setProvider(known.getLast());
        assertThat(near.rdma.provider()).isEqualTo(known.getLast());
        assertThat(connect(near, far).toFar().provider()).isEqualTo(known.getLast());
        assertThat(Refusals.statusOf(() -> near.rdma.setProvider(Rdma.ANY_PROVIDER)))
                .isEqualTo(Status.BAD_STATE);
    }

    @Test
    void shouldTellForEachProviderWhatHoldsWithIt() {
        Peer near = openNear();
        DeviceInfo info = near.device.info();
        RdmaCapabilities all = RdmaCapabilities.of(info);
        assertThat(all.providers()).isNotEmpty();
        for (String name : all.providers()) {
            RdmaCapabilities one = RdmaCapabilities.of(info, name);
            assertThat(one.providers()).containsExactly(name);
            assertThat(one.maxMessageBytes()).isGreaterThanOrEqualTo(all.maxMessageBytes());
            assertThat(one.maxSendQueueSize()).isGreaterThanOrEqualTo(all.maxSendQueueSize());
            for (RdmaTaskType type : RdmaTaskType.values()) {
                assertThat(one.maxTasks(type)).isGreaterThanOrEqualTo(all.maxTasks(type));
                assertThat(all.isSupported(type)).isEqualTo(all.maxTasks(type) > 0);
            }
        }
        assertThatThrownBy(() -> RdmaCapabilities.of(info, "pigeon"))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.NOT_FOUND))
                .hasMessageContainingAll("provider=pigeon", "expected=one of " + all.providers());
    }

    @ParameterizedTest
    @EnumSource(
            value = RdmaTaskType.class,
            names = {
                "RECEIVE",
                "SEND_IMMEDIATE",
                "WRITE_IMMEDIATE",
                "ATOMIC_COMPARE_AND_SWAP",
                "ATOMIC_FETCH_AND_ADD"
            })
    @Clause({"rdma-089", "rdma-123", "rdma-136"})
    @Clause({"rdma-145", "rdma-059"})
    void shouldSupportMessagesWithValuesAndAtomicOperations(RdmaTaskType type) {
        assertThat(RdmaCapabilities.of(openNear().device.info()).isSupported(type)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = RdmaTaskType.class,
            names = {
                "REMOTE_SYNC_EVENT_GET",
                "REMOTE_SYNC_EVENT_NOTIFY_SET",
                "REMOTE_SYNC_EVENT_NOTIFY_ADD"
            })
    @Clause({"rdma-152", "rdma-163", "rdma-172"})
    void shouldSupportOperationsOnRemoteSyncEvents(RdmaTaskType type) {
        assertThat(RdmaCapabilities.of(openNear().device.info()).isSupported(type)).isTrue();
    }
}
