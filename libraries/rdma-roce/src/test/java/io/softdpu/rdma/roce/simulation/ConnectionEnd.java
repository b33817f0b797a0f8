package io.softdpu.rdma.roce.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.check.Refusal;
import io.softdpu.rdma.roce.cm.CmConnection;
import io.softdpu.rdma.roce.rc.QueuePair;
import io.softdpu.rdma.spi.ReceivedOpcode;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection of a simulation: submits random operations on a memory of its peer that
 * no other end changes, and checks each result against a model of that memory.
 */
final class ConnectionEnd {
    private record Message(
            ReceivedOpcode opcode, int immediate, Operation operation, byte[] data) {}

    private static final WorkRequest.Kind[] KINDS = {
        WorkRequest.Kind.SEND,
        WorkRequest.Kind.SEND_IMMEDIATE,
        WorkRequest.Kind.WRITE,
        WorkRequest.Kind.WRITE,
        WorkRequest.Kind.WRITE_IMMEDIATE,
        WorkRequest.Kind.READ,
        WorkRequest.Kind.READ,
        WorkRequest.Kind.COMPARE_AND_SWAP,
        WorkRequest.Kind.FETCH_AND_ADD
    };

    private final SeededRandom random;
    private final int mtuBytes;
    private final int maxMessageBytes;
    private final int sendQueueSize;

    /** Memory of the peer. */
    private final TestMemory remote;

    /** The peer's memory after all that was submitted. */
    private final byte[] submitted;

    /** The peer's memory after all that was completed. */
    private final byte[] completed;

    private final Deque<Operation> operations = new ArrayDeque<>();
    private final List<Operation> reads = new ArrayList<>();
    private final List<Operation.Change> flushed = new ArrayList<>();
    private final Deque<Message> messages = new ArrayDeque<>();
    private final Consumer<ConnectionEnd> completion;
    private int left;
    private long messagesSent;
    private long messagesReceived;
    private boolean failed;
    private @Nullable CmConnection connection;
    private @Nullable ConnectionEnd peer;
    private boolean established;
    private boolean over;
    private boolean disconnected;
    private boolean broken;

    ConnectionEnd(
            SeededRandom random,
            int mtuBytes,
            int maxMessageBytes,
            int sendQueueSize,
            TestMemory remote,
            int operations,
            Consumer<ConnectionEnd> completion) {
        this.random = random;
        this.mtuBytes = mtuBytes;
        this.maxMessageBytes = maxMessageBytes;
        this.sendQueueSize = sendQueueSize;
        this.remote = remote;
        submitted = remote.content();
        completed = submitted.clone();
        left = operations;
        this.completion = completion;
    }

    void join(ConnectionEnd other) {
        peer = other;
    }

    void begin(CmConnection made) {
        connection = made;
    }

    /** Null until it is requested or accepted. */
    @Nullable CmConnection connection() {
        return connection;
    }

    private QueuePair queuePair() {
        QueuePair own = connection == null ? null : connection.queuePair();
        if (own == null) {
            throw new IllegalStateException("end without a queue pair");
        }
        return own;
    }

    ConnectionEnd peer() {
        if (peer == null) {
            throw new IllegalStateException("end without a peer");
        }
        return peer;
    }

    int sendQueueSize() {
        return sendQueueSize;
    }

    /** Whether an operation is left to submit, and there is room for it. */
    boolean canSubmit() {
        return established && left > 0 && operations.size() < sendQueueSize;
    }

    /** Whether nothing happens any more unless somebody disconnects. */
    boolean isDone() {
        return over
                || (established && left == 0 && operations.isEmpty())
                || (connection == null && peer().over);
    }

    /** Whether it has ended, is gone, or was never requested. */
    boolean isOver() {
        return over || connection == null;
    }

    /** Whether it was requested or accepted, and has ended. */
    boolean hasEnded() {
        return over && connection != null;
    }

    /** Whether it has ended by a failure. */
    boolean isBroken() {
        return broken;
    }

    void establish() {
        assertThat(established || over).as("established once").isFalse();
        established = true;
    }

    /** It has ended by itself, or by its peer. */
    void end(Status status, String reason) {
        assertThat(operations).as("operations at the end: %s", reason).isEmpty();
        end();
        broken = status != Status.SUCCESS && !peer().disconnected;
    }

    /** Its program ends it. */
    void disconnect(long nowNanos) {
        if (!isOver()) {
            end();
            disconnected = true;
            Objects.requireNonNull(connection).disconnect(nowNanos);
            assertThat(operations).as("operations of an end that has disconnected").isEmpty();
        }
    }

    /** It vanishes with its host. */
    void vanish() {
        over = true;
        left = 0;
    }

    private void end() {
        assertThat(over).as("ends once").isFalse();
        over = true;
        left = 0;
    }

    // ---- submission ----

    void submit() {
        WorkRequest.Kind kind = random.oneOf(KINDS);
        boolean atomic =
                kind == WorkRequest.Kind.COMPARE_AND_SWAP || kind == WorkRequest.Kind.FETCH_AND_ADD;
        int length = atomic ? Long.BYTES : length();
        int offset =
                atomic || random.chance(0.2)
                        ? random.nextInt((submitted.length - length) / 8 + 1) * 8
                        : random.nextInt(submitted.length - length + 1);
        Operation operation = new Operation(random, kind, remote, offset, length, this::complete);
        operation.fill(random);
        prepare(operation);
        Refusal refusal = queuePair().submit(operation.request);
        if (refusal != null) { // in a callback of its end
            assertThat(refusal.status()).isEqualTo(Status.NOT_CONNECTED);
            return;
        }
        left--;
        operations.add(operation);
        apply(operation);
    }

    private int length() {
        int length =
                switch (random.nextInt(10)) {
                    case 0 -> 0;
                    case 1 -> 1;
                    case 2 -> Long.BYTES;
                    case 3 -> mtuBytes - 1;
                    case 4 -> mtuBytes;
                    case 5 -> mtuBytes + 1;
                    case 6 -> 3 * mtuBytes;
                    default -> random.nextInt(6 * mtuBytes);
                };
        return Math.min(length, maxMessageBytes);
    }

    private void prepare(Operation operation) {
        WorkRequest request = operation.request;
        request.immediate = 0;
        long word = word(operation.offset);
        switch (request.kind) {
            case SEND_IMMEDIATE, WRITE_IMMEDIATE -> request.immediate = random.nextInt();
            case COMPARE_AND_SWAP -> {
                request.operand = random.chance(0.7) ? word : random.nextLong();
                request.swap = random.nextLong();
            }
            case FETCH_AND_ADD -> request.operand = random.nextLong();
            case SEND, WRITE, READ, RECEIVE -> {}
        }
    }

    private long word(int offset) {
        return offset + Long.BYTES > submitted.length
                ? 0
                : MemorySegment.ofArray(submitted).get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    private void apply(Operation operation) {
        WorkRequest request = operation.request;
        switch (request.kind) {
            case SEND -> message(ReceivedOpcode.SEND, operation);
            case SEND_IMMEDIATE -> message(ReceivedOpcode.SEND_IMMEDIATE, operation);
            case WRITE -> change(operation, operation.content());
            case WRITE_IMMEDIATE -> {
                change(operation, operation.content());
                message(ReceivedOpcode.WRITE_IMMEDIATE, operation);
            }
            case READ -> {
                operation.expected =
                        Arrays.copyOfRange(
                                submitted, operation.offset, operation.offset + operation.length);
                reads.add(operation);
            }
            case COMPARE_AND_SWAP -> {
                operation.before = word(operation.offset);
                if (operation.before == request.operand) {
                    changeWord(operation, request.swap);
                }
            }
            case FETCH_AND_ADD -> {
                operation.before = word(operation.offset);
                changeWord(operation, operation.before + request.operand);
            }
            case RECEIVE -> throw new IllegalStateException("a receive is not submitted");
        }
    }

    private void message(ReceivedOpcode opcode, Operation operation) {
        messagesSent++;
        operation.messageNumber = messagesSent;
        messages.add(
                new Message(opcode, operation.request.immediate, operation, operation.content()));
    }

    private void changeWord(Operation operation, long value) {
        byte[] bytes = new byte[Long.BYTES];
        MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
        change(operation, bytes);
    }

    private void change(Operation operation, byte[] bytes) {
        Operation.Change change = new Operation.Change(operation.offset, bytes);
        operation.change = change;
        System.arraycopy(bytes, 0, submitted, operation.offset, bytes.length);
        for (Operation read : reads) {
            read.later.add(change);
        }
    }

    // ---- completions ----

    private void complete(Operation operation, Status status) {
        assertThat(operations.poll()).as("in order, and once").isSameAs(operation);
        reads.remove(operation);
        Operation.Change change = operation.change;
        if (status == Status.SUCCESS) {
            assertThat(failed).as("success after a failure: %s", operation).isFalse();
            succeeded(operation);
            if (change != null) {
                System.arraycopy(
                        change.bytes(), 0, completed, change.offset(), change.bytes().length);
            }
        } else {
            failed = true;
            if (change != null) {
                flushed.add(change);
            }
        }
        operation.fill(random); // the memory is the program's again
        completion.accept(this);
    }

    private void succeeded(Operation operation) {
        assertThat(operation.request.resultLengthBytes)
                .as("result of %s", operation)
                .isEqualTo(operation.length);
        assertThat(operation.gapsAreWhole()).as("bytes beside the list of %s", operation).isTrue();
        assertThat(peer().messagesReceived)
                .as("received before completed: %s", operation)
                .isGreaterThanOrEqualTo(operation.messageNumber);
        switch (operation.request.kind) {
            case READ -> checkRead(operation);
            case COMPARE_AND_SWAP, FETCH_AND_ADD ->
                    assertThat(operation.word())
                            .as("value before %s", operation)
                            .isEqualTo(operation.before);
            case SEND, SEND_IMMEDIATE, WRITE, WRITE_IMMEDIATE, RECEIVE -> {}
        }
    }

    private static void checkRead(Operation operation) {
        byte[] read = operation.content();
        for (int i = 0; i < read.length; i++) {
            if (read[i] != operation.expected[i]
                    && !isAmong(operation.later, operation.offset + i, read[i])) {
                throw new AssertionError(
                        "byte of a read: operation="
                                + operation
                                + ", index="
                                + i
                                + ", value="
                                + read[i]
                                + ", expected="
                                + operation.expected[i]);
            }
        }
    }

    private static boolean isAmong(List<Operation.Change> changes, int at, byte value) {
        for (Operation.Change each : changes) {
            if (each.covers(at, value)) {
                return true;
            }
        }
        return false;
    }

    void receive(WorkRequest receive, Status status) {
        if (status != Status.SUCCESS) {
            return;
        }
        messagesReceived++;
        Message message = peer().messages.poll();
        assertThat(message).as("a message that was not sent").isNotNull();
        Operation into = (Operation) receive.sink;
        assertThat(receive.resultOpcode).isEqualTo(message.opcode());
        assertThat(receive.immediate).isEqualTo(message.immediate());
        assertThat(receive.resultLengthBytes).isEqualTo(message.data().length);
        assertThat(into.gapsAreWhole()).as("bytes beside the list of a receive").isTrue();
        byte[] found =
                message.opcode() == ReceivedOpcode.WRITE_IMMEDIATE
                        ? peer().remote.content()
                        : into.content();
        int from =
                message.opcode() == ReceivedOpcode.WRITE_IMMEDIATE ? message.operation().offset : 0;
        assertThat(Arrays.copyOfRange(found, from, from + message.data().length))
                .as("data of %s", message.operation())
                .isEqualTo(message.data());
    }

    // ---- the end of a program ----

    /** Compares the peer's memory with the model. */
    void check() {
        for (Operation each : operations) { // of a host that has vanished
            if (each.change != null) {
                flushed.add(each.change);
            }
        }
        byte[] content = remote.content();
        for (int i = 0; i < content.length; i++) {
            if (content[i] != completed[i] && !isAmong(flushed, i, content[i])) {
                throw new AssertionError(
                        "byte of the peer's memory: index="
                                + i
                                + ", value="
                                + content[i]
                                + ", expected="
                                + completed[i]
                                + ", connection="
                                + connection);
            }
        }
        assertThat(remote.guardsAreWhole()).as("bytes beside the memory").isTrue();
    }
}
