package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.linux.text.Text;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.testkit.AllocationMeter;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reasons of refused tasks: reason, object, actual and expected value; over every provider. */
public abstract class RdmaRefusalContract extends RdmaContract {
    private static final int ROUNDS = 10_000;
    private static final Permissions READABLE =
            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_READ);

    /** For subclasses. */
    protected RdmaRefusalContract() {}

    /** A task that is to be refused, and its bufs. */
    record Refused(Task task, List<Buf> bufs) {
        static Refused of(Task task, Buf... bufs) {
            return new Refused(task, List.of(bufs));
        }

        void free() {
            task.free();
            for (Buf buf : bufs) {
                if (buf.references() > 0) {
                    buf.release();
                }
            }
        }
    }

    private static Refused write(Pair pair, Buf source, Buf destination) {
        return Refused.of(
                pair.near().rdma.allocateWrite(pair.toFar(), source, destination),
                source,
                destination);
    }

    private static Refused read(Pair pair, Buf source, Buf destination) {
        return Refused.of(
                pair.near().rdma.allocateRead(pair.toFar(), source, destination),
                source,
                destination);
    }

    private static Refused send(Pair pair, Buf source) {
        return Refused.of(pair.near().rdma.allocateSend(pair.toFar(), source), source);
    }

    private static Arguments refusal(
            String name,
            Status status,
            List<String> parts,
            Function<RdmaRefusalContract, Refused> refused) {
        return Arguments.of(name, status, parts, refused);
    }

    static Stream<Arguments> refusals() {
        return Stream.of(
                refusal(
                        "instance of the peer grants too little",
                        Status.NOT_PERMITTED,
                        List.of(
                                "peer instance does not grant RDMA_WRITE: granted=[",
                                "RDMA_READ]",
                                "connection=",
                                "expected=Rdma.setPermissions with it by the peer, before start",
                                "task=RdmaWriteTask"),
                        test -> {
                            Pair pair =
                                    connect(
                                            test.openNear(),
                                            test.openFar(Peer.ALL, READABLE.rdmaOnly()));
                            Peer near = pair.near();
                            Mmap remote = near.importRdma(pair.far());
                            return write(
                                    pair,
                                    near.data(0, 8),
                                    near.inventory.bufByAddress(remote, 0, 8));
                        }),
                refusal(
                        "mmap of the peer grants too little",
                        Status.NOT_PERMITTED,
                        List.of(
                                "exporter does not grant RDMA_WRITE: granted=[",
                                "mmap=mmap[imported over RDMA ",
                                "expected=RDMA_WRITE by Mmap.setPermissions of the exporter",
                                "operand=destination"),
                        test -> {
                            Pair pair =
                                    connect(
                                            test.openNear(),
                                            test.openFar(READABLE, Peer.ALL.rdmaOnly()));
                            Peer near = pair.near();
                            Mmap remote = near.importRdma(pair.far());
                            return write(
                                    pair,
                                    near.data(0, 8),
                                    near.inventory.bufByAddress(remote, 0, 8));
                        }),
                refusal(
                        "tailroom too small",
                        Status.INVALID_VALUE,
                        List.of(
                                "tailroom 0 < 100: destination=buf[",
                                "tailroomBytes=0",
                                "expected=tailroom for all the data: a buf by address"),
                        test -> {
                            Pair pair = test.connected();
                            Peer near = pair.near();
                            Mmap remote = near.importRdma(pair.far());
                            return write(
                                    pair,
                                    near.data(0, 100),
                                    near.inventory.bufByData(remote, 0, 100));
                        }),
                refusal(
                        "remote buf over local memory",
                        Status.INVALID_VALUE,
                        List.of(
                                "buf is not over memory of the peer: source=buf[",
                                "mmap=mmap[local",
                                "expected=an mmap created from the peer's Mmap.exportRdma"),
                        test -> {
                            Pair pair = test.connected();
                            return read(pair, pair.near().data(0, 8), pair.near().room(100, 8));
                        }),
                refusal(
                        "local buf over remote memory",
                        Status.NOT_PERMITTED,
                        List.of(
                                "mmap was imported from RDMA, and is not memory of this machine:"
                                        + " needed=[",
                                "expected=a local mmap or an import over PCIe",
                                "operand=source"),
                        test -> {
                            Pair pair = test.connected();
                            Peer near = pair.near();
                            Mmap remote = near.importRdma(pair.far());
                            return send(pair, near.inventory.bufByData(remote, 0, 8));
                        }),
                refusal(
                        "released buf",
                        Status.BAD_STATE,
                        List.of("buf was released: source=buf[released", "expected=a buf in use"),
                        test -> {
                            Pair pair = test.connected();
                            Refused refused = send(pair, pair.near().data(0, 8));
                            refused.bufs().getFirst().release();
                            return refused;
                        }),
                refusal(
                        "buf in flight",
                        Status.IN_USE,
                        List.of("buf is in flight: usedAs=destination, buf=buf[", "operand=source"),
                        test -> {
                            Pair pair = test.connected();
                            Peer near = pair.near();
                            Buf buf = near.data(0, 8);
                            buf.setData(0, 4);
                            assertThat(near.receive(buf, 1)).isEqualTo(Status.SUCCESS);
                            return Refused.of(near.rdma.allocateSend(pair.toFar(), buf));
                        }),
                refusal(
                        "connection that has ended",
                        Status.NOT_CONNECTED,
                        List.of(
                                "connection is not connected: connection=",
                                "state=DISCONNECTED",
                                "expected=CONNECTED"),
                        test -> {
                            Pair pair = test.connected();
                            Refused refused = send(pair, pair.near().data(0, 8));
                            pair.toFar().disconnect();
                            Peer.drive(
                                    "end",
                                    () -> pair.toFar().state() == RdmaConnection.State.DISCONNECTED,
                                    pair.near());
                            return refused;
                        }));
    }

    private Peer openFar(Permissions ofMmap, Permissions ofInstance) {
        return add(
                Peer.open(
                        environment(),
                        folder(),
                        environment().farSide(),
                        ofMmap,
                        rdma -> rdma.setPermissions(ofInstance)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusals")
    void shouldNameReasonObjectActualAndExpected(
            String name,
            Status status,
            List<String> parts,
            Function<RdmaRefusalContract, Refused> given) {
        Refused refused = given.apply(this);
        Task task = refused.task();

        Status submitted = task.trySubmit();
        DpuException refusal = task.refusal();
        refused.free();

        assertThat(submitted).isEqualTo(status);
        assertThat(Objects.requireNonNull(refusal).status()).isEqualTo(status);
        assertThat(refusal.getMessage())
                .startsWith(parts.getFirst())
                .contains(parts)
                .endsWith(", context=" + task.context());
    }

    @Test
    void shouldAllocateNothingWhileTheSendQueueIsFull() {
        Pair pair = connect(openConfigured(rdma -> rdma.setSendQueueSize(2)), openFar());
        Peer near = pair.near();
        assertThat(near.send(pair.toFar(), null, 1)).isEqualTo(Status.SUCCESS);
        assertThat(near.send(pair.toFar(), null, 2)).isEqualTo(Status.SUCCESS);
        RdmaSendTask task = near.rdma.allocateSend(pair.toFar(), null);
        Task[] tasks = {task};

        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    if (task.trySubmit() != Status.AGAIN
                            || near.rdma.trySubmitAll(tasks, 0, 1) != 0) {
                        throw new AssertionError("accepted");
                    }
                });

        assertThat(task.refusal())
                .hasMessageStartingWith("send queue is full: inFlight=2, ")
                .hasMessageContaining("expected=");
        task.free();
    }

    @Test
    void shouldNameTheFailureOfAnInstanceThatHasFailed() {
        Pair pair = connected();
        Rdma near = pair.near().rdma;
        RdmaSendTask task = near.allocateSend(pair.toFar(), null);
        fail(pair);
        DpuException failure = Objects.requireNonNull(near.failure());

        assertThatThrownBy(task::submit)
                .hasMessageStartingWith("context is not running: state=STOPPING, failure=IO_FAILED")
                .hasCause(failure);
        assertThatThrownBy(() -> near.allocateSend(pair.toFar(), null))
                .hasMessageContaining("failure=IO_FAILED")
                .hasCause(failure);
        assertThatThrownBy(near::exportConnection)
                .hasMessageContaining("failure=IO_FAILED")
                .hasCause(failure);
        task.free();
    }

    @Test
    void shouldNameTheFailureOfAConnectionThatHasFailed() {
        Pair pair = connect(openConfigured(rdma -> rdma.setMaxConnections(2)), openFar());
        fail(pair);
        RdmaSendTask task = pair.near().rdma.allocateSend(pair.toFar(), null);

        assertThat(task.trySubmit()).isEqualTo(Status.NOT_CONNECTED);

        assertThat(task.refusal())
                .hasMessageStartingWith(
                        Text.format(
                                "connection is not connected: connection=%d, state=FAILED,"
                                        + " failure=IO_FAILED",
                                pair.toFar().id()))
                .cause()
                .hasMessage(pair.toFar().failureReason());
        task.free();
    }

    /** Fails a connection by a message that is larger than the receive task of the peer. */
    private static void fail(Pair pair) {
        Peer near = pair.near();
        Peer far = pair.far();
        assertThat(far.receive(far.room(0, 8), 1)).isEqualTo(Status.SUCCESS);
        assertThat(near.send(pair.toFar(), near.data(0, 100), 2)).isEqualTo(Status.SUCCESS);
        Peer.drive("failure", () -> pair.toFar().state() == RdmaConnection.State.FAILED, near, far);
    }
}
