package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.AllocationMeter;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reasons of refused tasks of producers and consumers, and what to do about them. */
class FastPathRefusalTest extends FastPathFixture {
    private static final int ROUNDS = 10_000;

    private Queue.Receiving receiving;
    private Queue.Sending sending;

    private FastPathRefusalTest run() {
        receiving = receiving(pair.server(), 4096, 4);
        sending = sending(pair.client(), 4096, 4);
        return this;
    }

    private Task send(Buf buf, int consumerId) {
        return sending.producer.allocateSendTask(buf, consumerId);
    }

    private Task post(Buf buf) {
        return receiving.consumer.allocatePostReceiveTask(buf);
    }

    private int id() {
        return receiving.consumer.id();
    }

    private Buf data(long bytes) {
        Card.Memory memory = sending.memory;
        return memory.inventory().bufByData(memory.mmap(), 0, bytes);
    }

    private Buf room(long bytes) {
        Card.Memory memory = receiving.memory;
        return memory.inventory().bufByAddress(memory.mmap(), 0, bytes);
    }

    private static Arguments refusal(
            String name,
            Status status,
            List<String> parts,
            Function<FastPathRefusalTest, Task> refused) {
        return Arguments.of(name, status, parts, refused);
    }

    static Stream<Arguments> refusals() {
        return Stream.of(
                refusal(
                        "no buffer posted",
                        Status.AGAIN,
                        List.of(
                                "consumer has posted no buffer for this producer: consumerId=",
                                "buffers=0",
                                "expected=a posted receive task"),
                        test -> test.send(test.data(8), test.id())),
                refusal(
                        "no such consumer",
                        Status.NOT_FOUND,
                        List.of(
                                "peer has no consumer with this id: consumerId=999",
                                "expected=one of [",
                                "by ComchConnection.remoteConsumers()"),
                        test -> test.send(test.data(8), 999)),
                refusal(
                        "data longer than the buffer",
                        Status.INVALID_VALUE,
                        List.of(
                                "data length 65 > 64: consumerId=",
                                "source=buf[",
                                "expected=64 bytes at most"),
                        test -> {
                            test.receiving.post(0, 64);
                            return test.send(test.data(65), test.id());
                        }),
                refusal(
                        "released buf",
                        Status.INVALID_VALUE,
                        List.of("buf was released: source=buf[released", "expected=a buf in use"),
                        test -> {
                            Buf buf = test.data(8);
                            Task task = test.send(buf, test.id());
                            buf.release();
                            return task;
                        }),
                refusal(
                        "imported memory",
                        Status.INVALID_VALUE,
                        List.of(
                                "data is not in memory of this program: source=buf[",
                                "mmap=mmap[imported over PCIe",
                                "expected=a buf in a local mmap"),
                        test -> {
                            Mmap imported =
                                    test.card.keep(
                                            Mmap.createFromExport(
                                                    test.card
                                                            .memory(test.card.pf0, 4096)
                                                            .mmap()
                                                            .exportPci(test.card.pf0),
                                                    test.card.p0));
                            return test.send(
                                    test.sending.memory.inventory().bufByData(imported, 0, 8),
                                    test.id());
                        }),
                refusal(
                        "device of the producer missing",
                        Status.NOT_PERMITTED,
                        List.of(
                                "device was not added to the mmap: device=",
                                "expected=Mmap.addDevice, before start",
                                "operand=source"),
                        test ->
                                test.send(
                                        test.sending
                                                .memory
                                                .inventory()
                                                .bufByData(test.receiving.memory.mmap(), 0, 8),
                                        test.id())),
                refusal(
                        "source list too long",
                        Status.INVALID_VALUE,
                        List.of(
                                "buf list is too long: listLength=2, buf=buf[",
                                "expected=1 at most, operand=source"),
                        test -> {
                            Buf list = test.data(8);
                            list.chain(test.data(8));
                            return test.send(list, test.id());
                        }),
                refusal(
                        "consumer that stops",
                        Status.NOT_FOUND,
                        List.of(
                                "consumer is stopping: consumerId=",
                                "expected=one of ComchConnection.remoteConsumers()"),
                        test -> {
                            Task task = test.send(test.data(8), test.id());
                            test.receiving.consumer.stop();
                            return task;
                        }),
                refusal(
                        "consumer that has stopped",
                        Status.NOT_FOUND,
                        List.of(
                                "peer has no consumer with this id: consumerId=",
                                "expected=one of []"),
                        test -> {
                            Task task = test.send(test.data(8), test.id());
                            Peer.stop(test.card, test.receiving.consumer);
                            return task;
                        }),
                refusal(
                        "full destination",
                        Status.INVALID_VALUE,
                        List.of(
                                "tailroom 0 < 1: destination=buf[",
                                "tailroomBytes=0",
                                "expected=tailroom for all the data: a buf by address"
                                        + " (bufByAddress, where bufByData leaves none), or"
                                        + " Buf.resetDataLength"),
                        test -> {
                            Buf full = test.room(8);
                            full.setDataLength(8);
                            return test.post(full);
                        }),
                refusal(
                        "destination in other memory",
                        Status.INVALID_VALUE,
                        List.of(
                                "buf is not in the receive memory of the consumer:"
                                        + " destination=buf[",
                                "expected=a buf in mmap["),
                        test -> test.post(test.data(8))),
                refusal(
                        "receive memory was stopped",
                        Status.BAD_STATE,
                        List.of(
                                "mmap is not started: mmap=mmap[",
                                "expected=Mmap.start()",
                                "operand=destination"),
                        test -> {
                            Buf buf = test.room(8);
                            test.receiving.memory.mmap().stop();
                            return test.post(buf);
                        }),
                refusal(
                        "destination in flight",
                        Status.IN_USE,
                        List.of(
                                "buf is in flight: usedAs=destination, buf=buf[",
                                "operand=destination"),
                        test -> {
                            Buf buf = test.room(64);
                            assertThat(test.receiving.post(buf)).isEqualTo(Status.SUCCESS);
                            return test.post(buf);
                        }),
                refusal(
                        "destination list too long",
                        Status.INVALID_VALUE,
                        List.of(
                                "buf list is too long: listLength=2, buf=buf[",
                                "expected=1 at most, operand=destination"),
                        test -> {
                            Buf list = test.room(8);
                            list.chain(test.room(8));
                            return test.post(list);
                        }));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("refusals")
    void shouldNameReasonObjectActualAndExpected(
            String name,
            Status status,
            List<String> parts,
            Function<FastPathRefusalTest, Task> refused) {
        Task task = refused.apply(run());

        Status submitted = task.trySubmit();
        DpuException refusal = task.refusal();
        Task[] tasks = {task};
        assertThat(task.context().trySubmitAll(tasks, 0, 1)).isZero();
        DpuException amongSeveral = task.refusal();
        Buf buf = bufOf(task);
        task.free();
        if (buf != null && buf.references() > 0 && status != Status.IN_USE) {
            buf.release();
        }

        assertThat(submitted).isEqualTo(status);
        assertThat(Objects.requireNonNull(refusal).status()).isEqualTo(status);
        assertThat(refusal.getMessage())
                .startsWith(parts.getFirst())
                .contains(parts)
                .endsWith(", context=" + task.context());
        assertThat(amongSeveral).hasMessage(refusal.getMessage());
    }

    private static @Nullable Buf bufOf(Task task) {
        return task instanceof ComchProducerSendTask send
                ? send.buf()
                : ((ComchPostReceiveTask) task).buf();
    }

    @Test
    void shouldNameTheReasonOfTheFirstThatWasRefusedAmongSeveral() {
        run();
        receiving.post(0, 64);
        receiving.post(64, 64);
        ComchProducerSendTask[] tasks = new ComchProducerSendTask[4];
        List<Buf> bufs = new ArrayList<>();
        for (int i = 0; i < tasks.length; i++) {
            bufs.add(sending.memory.inventory().bufByData(sending.memory.mmap(), i * 8L, 8));
            tasks[i] = sending.producer.allocateSendTask(bufs.get(i), id());
        }
        assertThat(sending.producer.trySubmitAll(tasks, 0, 4)).isEqualTo(2);
        assertThat(tasks[0].refusal()).isNull();
        assertThat(tasks[1].refusal()).isNull();
        assertThat(tasks[2].refusal()).hasMessageStartingWith("consumer has posted no buffer");
        assertThat(tasks[3].refusal()).as("not tried").isNull();
        tasks[3].setConsumerId(999);
        receiving.post(128, 64);
        assertThat(sending.producer.trySubmitAll(tasks, 2, 4)).isEqualTo(1);
        assertThat(tasks[2].refusal()).as("accepted now").isNull();
        assertThat(tasks[3].refusal()).hasMessageStartingWith("peer has no consumer with this id");
        card.until("sent", () -> sending.statuses.size() == 3);
        tasks[3].free();
        bufs.get(3).release();
    }

    @Test
    void shouldAllocateNothingWhileNoBufferIsPosted() {
        run();
        Buf buf = data(8);
        ComchProducerSendTask task = sending.producer.allocateSendTask(buf, id());
        Task[] tasks = {task};
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    if (task.trySubmit() != Status.AGAIN
                            || sending.producer.trySubmitAll(tasks, 0, 1) != 0) {
                        throw new AssertionError("accepted");
                    }
                });
        assertThat(task.refusal()).hasMessageStartingWith("consumer has posted no buffer");
        task.free();
        buf.release();
    }

    @Test
    void shouldAllocateNothingWhileTheReceiveQueueOfThePeerIsFull() {
        Peer server = Peer.server(card, "small");
        Peer client = Peer.client(card, "small");
        server.endpoint.setReceiveQueueSize(2);
        server.endpoint.start();
        client.endpoint.start();
        card.until("connected", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("on both sides", () -> server.connection != null);
        assertThat(client.send("one")).isEqualTo(Status.SUCCESS);
        assertThat(client.send("two")).isEqualTo(Status.SUCCESS);
        ComchSendTask task = client.endpoint.allocateSendTask(client.connection());
        AllocationMeter.assertNone(
                ROUNDS,
                () -> {
                    if (task.trySubmit() != Status.AGAIN) {
                        throw new AssertionError("accepted");
                    }
                });
        assertThat(task.refusal())
                .hasMessageStartingWith(
                        "receive queue of the peer is full: messages=2, receiveQueueSize=2,"
                                + " expected=");
        task.free();
    }

    @Test
    void shouldNameTheMessageThatIsTooLong() {
        ComchSendTask task = pair.client().endpoint.allocateSendTask(pair.client().connection());
        int most = pair.client().endpoint.maxMessageBytes();
        task.setMessage(new byte[most + 1]);
        assertRefused(Status.INVALID_VALUE, task::submit)
                .hasMessageStartingWith(Text.format("message length %d > %d: ", most + 1, most))
                .hasMessageContaining(Text.format("expected=%d bytes at most", most));
        task.free();
    }

    @Test
    void shouldNameThePermissionThatReceiveMemoryLacks() {
        Card.Memory readOnly =
                card.memory(
                        card.p0,
                        4096,
                        Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_ONLY));
        assertRefused(
                        Status.NOT_PERMITTED,
                        () -> ComchConsumer.create(pair.server().connection, readOnly.mmap()))
                .hasMessageStartingWith("mmap does not grant PCI_READ_WRITE: granted=[")
                .hasMessageContaining("expected=Mmap.setPermissions with it, before start");
    }

    @Test
    void shouldNameTheFailureOfAClientThatHasFailed() {
        ComchClient client = (ComchClient) pair.client().endpoint;
        ComchConnection connection = client.connection();
        ComchSendTask task = client.allocateSendTask(connection);
        task.setMessage(new byte[8]);
        pair.server().endpoint.stop();
        card.until("failed", () -> client.failure() != null);
        DpuException failure = Objects.requireNonNull(client.failure());

        assertRefused(Status.NOT_CONNECTED, client::connection)
                .hasMessageContaining("failure=" + failure.status())
                .hasCause(failure);
        assertRefused(Status.BAD_STATE, () -> client.allocateSendTask(connection))
                .hasMessageContaining("failure=" + failure.status())
                .hasCause(failure);
        assertRefused(Status.BAD_STATE, task::submit)
                .hasMessageStartingWith("context is not running: state=STOPPING, failure=")
                .hasCause(failure);
        task.free();
    }

    @Test
    void shouldNameTheSettersOfWhatIsMissing() {
        ComchClient client = card.keep(ComchClient.create(card.pf0, "other"));
        assertRefused(Status.BAD_STATE, client::start)
                .hasMessageStartingWith("context has no progress engine: context=")
                .hasMessageContaining("expected=ProgressEngine.connect, or ProgressEngine.start");
        card.hostEngine.connect(client);
        assertRefused(Status.BAD_STATE, client::start)
                .hasMessageStartingWith("mandatory item is missing: item=send tasks, context=")
                .hasMessageEndingWith("expected=setSendTasks, before start");
        client.setSendTasks(1, task -> {}, task -> {});
        assertRefused(Status.BAD_STATE, client::start)
                .hasMessageStartingWith("mandatory item is missing: item=message callback, ")
                .hasMessageEndingWith("expected=setMessageCallback, before start");
    }
}
