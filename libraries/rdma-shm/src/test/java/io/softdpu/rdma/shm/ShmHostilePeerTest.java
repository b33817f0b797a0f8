package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaOpcode;
import io.softdpu.rdma.RdmaReceiveTask;
import io.softdpu.rdma.RdmaSendTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Protocol violations of a peer end its connection only. */
class ShmHostilePeerTest {
    private static final int ONE = ShmWire.OPCODE_SEND | ShmWire.FLAG_FIRST | ShmWire.FLAG_LAST;
    private static final int FIRST = ShmWire.OPCODE_SEND | ShmWire.FLAG_FIRST;
    private static final int MIDDLE = ShmWire.OPCODE_SEND;
    private static final int LAST = ShmWire.OPCODE_SEND | ShmWire.FLAG_LAST;
    private static final int SLOT = ShmConnection.GEOMETRY.maxPayloadBytes();
    private static final long SLOTS_OFFSET = 1024;
    private static final long STAMP_OFFSET = 16;
    private static final long CONSUMED_OFFSET = 256;
    private static final long STATUS_OFFSET = 640;
    private static final int ROOM = 3 * SLOT;
    private static final int RECEIVES = 128;

    private final List<Status> received = new ArrayList<>();
    private final List<RdmaOpcode> opcodes = new ArrayList<>();
    private final List<Status> sent = new ArrayList<>();
    private Runnable onSent = () -> {};
    private Machine machine;
    private Machine elsewhere;
    private Device device;
    private Device otherDevice;
    private ProgressEngine engine;
    private SharedMemory memory;
    private MemorySegment bytes;
    private Mmap mmap;
    private BufInventory inventory;
    private Rdma rdma;
    private RdmaConnection connection;
    private HostilePeer peer;

    @BeforeEach
    void open(@TempDir Path folder) {
        machine = Machine.builder(Side.DPU).fabricFolder(folder).open();
        elsewhere = Machine.builder(Side.TARGET).fabricFolder(folder).open();
        device = machine.findDevice("03:00.0").open();
        otherDevice = elsewhere.findDevice("t0").open();
        engine = ProgressEngine.create();
        memory = SharedMemory.allocate(1 << 20);
        bytes = memory.segment();
        mmap = Mmap.create();
        mmap.setMemory(memory)
                .setPermissions(Permissions.of(AccessFlag.LOCAL_READ_WRITE))
                .addDevice(device)
                .start();
        inventory = BufInventory.create(RECEIVES);
        inventory.start();
        rdma = Rdma.create(device);
        rdma.setReceiveTasks(RECEIVES, this::received, this::received);
        rdma.setSendTasks(16, this::sent, this::sent);
        rdma.setPermissions(Permissions.of(AccessFlag.RDMA_WRITE));
        engine.connect(rdma);
        rdma.start();
        connection = rdma.exportConnection();
        peer = new HostilePeer(otherDevice, connection.blob());
    }

    @AfterEach
    void close() {
        if (rdma.state() == ContextState.STARTING || rdma.state() == ContextState.RUNNING) {
            rdma.stop();
        }
        drive("idle", () -> rdma.state() == ContextState.IDLE);
        rdma.close();
        engine.close();
        inventory.close();
        mmap.close();
        memory.close();
        peer.close();
        device.close();
        otherDevice.close();
        machine.close();
        elsewhere.close();
    }

    private void received(RdmaReceiveTask task) {
        received.add(task.status());
        opcodes.add(task.resultOpcode());
        task.destination().release();
        task.free();
    }

    private void sent(RdmaSendTask task) {
        sent.add(task.status());
        Buf source = task.source();
        task.free();
        if (source != null) {
            source.release();
        }
        onSent.run();
    }

    // ---- getting in ----

    @Test
    @Clause("rdma-005")
    void shouldLeaseTheRingOnlyOnce() throws Exception {
        peer.lease();
        assertThatThrownBy(peer::lease)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        FabricException.class,
                        e ->
                                assertThat(e.kind())
                                        .isIn(
                                                FabricException.Kind.LIMIT,
                                                FabricException.Kind.REFUSED));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotConnectToWhomTheBlobWasNotMeantFor(boolean receiverKeyWrong) throws Exception {
        rdma.connect(peer.blob(), connection);
        ShmDetails.Key wrong = new ShmDetails.Key(1, 2);
        peer.lease()
                .hello(
                        1,
                        receiverKeyWrong ? wrong : peer.victim.key(),
                        receiverKeyWrong ? peer.key : wrong);

        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.AUTHENTICATION);
    }

    /** A peer that reads or writes alone may be done before this side makes progress. */
    @Test
    void shouldBeEstablishedAndThenDisconnectedByAPeerThatHasLeftMeanwhile() throws Exception {
        rdma.connect(peer.blob(), connection);
        drive("the hello of this side", () -> peer.inbound.poll() >= 0);
        peer.lease().hello();
        peer.inbound.setStatus(ShmWire.STATUS_DISCONNECTED);
        peer.close();
        drive("the end", () -> connection.state() != RdmaConnection.State.CONNECTING);
        drive(
                "the end after being established",
                () -> connection.state() != RdmaConnection.State.CONNECTED);
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
        assertThat(connection.failure()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseAHelloOfAnotherVersion() throws Exception {
        rdma.connect(peer.blob(), connection);
        peer.lease().hello(2, peer.victim.key(), peer.key);

        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.UNEXPECTED);
    }

    @ParameterizedTest
    @CsvSource({"2, 40", "1, 39", "1, 41", "257, 40", "0, 0"})
    void shouldRefuseAFirstMessageThatIsNoHello(int type, int lengthBytes) throws Exception {
        rdma.connect(peer.blob(), connection);
        peer.lease().message(type, lengthBytes, 0);

        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.UNEXPECTED);
        assertThat(peer.victimStatus()).isEqualTo(ShmWire.STATUS_PROTOCOL_ERROR);
    }

    @Test
    void shouldLookAtNothingBeforeTheHello() throws Exception {
        peer.lease();
        peer.message(ONE, 8, ShmWire.firstWord(8, 0));
        for (int i = 0; i < 100; i++) {
            engine.progress();
        }
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.EXPORTED);
    }

    // ---- the receive limit ----

    /** A lower limit is a hint: a message that was counted on the one before waits in the ring. */
    @Test
    @Clause("rdma-263")
    void shouldReadTheLimitAgainWhenTheKnownOneIsUsedUpAndNotBefore() throws Exception {
        connect();
        peer.receiveLimit(2);
        assertThat(sendsOne()).isTrue();
        peer.receiveLimit(0);
        assertThat(sendsOne()).as("the known limit is 2").isTrue();
        peer.receiveLimit(3);
        assertThat(sendsOne()).as("read again").isTrue();
        assertThat(sendsOne()).as("used up").isFalse();
        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.IO_FAILED);
        assertThat(sent)
                .containsExactly(Status.SUCCESS, Status.SUCCESS, Status.SUCCESS, Status.IO_FAILED);
    }

    /** Submits a send, and receives it as the peer; returns whether it was in the ring. */
    private boolean sendsOne() {
        rdma.allocateSend(connection, null).submit();
        if (peer.inbound.poll() < 0) {
            return false;
        }
        peer.inbound.release();
        return true;
    }

    // ---- messages ----

    @ParameterizedTest
    @CsvSource({
        // type, length, word: each alone, with a receive of three slots waiting
        "0, 8, 8", // no opcode
        "1, 40, 0", // a second hello
        "770, 8, 8", // type 2 with both flags: the good one, see below
        "773, 8, 8", // an opcode of a later release
        "1794, 8, 8", // a flag that does not exist
        "2, 4096, 0", // middle outside a message
        "514, 8, 0", // last outside a message
        "258, 8, 8", // first without last, yet all there
        "770, 8, 9", // last, yet more to come
        "770, 8, 7", // longer than said
        "258, 4095, 8192", // first fragment not full
        "770, 8, 4294967304", // an immediate on a send
        "258, 4096, 2147483648", // longer than any message
        "258, 4096, -1",
        "3, 8, 8", // a send with immediate, middle outside a message
        "259, 8, 8", // first without last, yet all there
        "771, 8, 9", // last, yet more to come
        "771, 8, 7", // longer than said
        "4, 0, 0", // a write with immediate, neither first nor last
        "260, 0, 8", // first without last
        "516, 0, 8", // last without first
        "772, 1, 8", // a payload
        "772, 8, 8",
        "772, 0, 1073741825", // longer than any write
        "772, 0, 4294967295",
    })
    void shouldEndTheConnectionOnABadHeader(int type, int lengthBytes, long word) throws Exception {
        connect();
        guard();
        post();
        peer.message(type, lengthBytes, word);
        if (type == ONE && word == lengthBytes) {
            drive("the good message", () -> received.size() == 1);
            assertThat(received).containsExactly(Status.SUCCESS);
            return;
        }

        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.UNEXPECTED);
        assertThat(peer.victimStatus()).isEqualTo(ShmWire.STATUS_PROTOCOL_ERROR);
        assertThat(received).containsExactly(Status.CONNECTION_ABORTED);
        assertGuard();
    }

    @ParameterizedTest
    @CsvSource({
        // type, length of the payload, word; opcode, length and value of the receive
        "771, 8, 8, SEND_IMMEDIATE, 8, 0",
        "771, 8, 72623859706101768, SEND_IMMEDIATE, 8, 67305985", // big-endian 04030201
        "771, 0, -4294967296, SEND_IMMEDIATE, 0, -1",
        "772, 0, 0, WRITE_IMMEDIATE, 0, 0",
        "772, 0, 1073741824, WRITE_IMMEDIATE, 1073741824, 0", // whatever it says
        "772, 0, 36028797018963968, WRITE_IMMEDIATE, 0, 32768",
    })
    void shouldTakeAGoodMessageWithAnImmediate(
            int type, int lengthBytes, long word, RdmaOpcode opcode, long length, int immediate)
            throws Exception {
        connect();
        guard();
        Buf buf = inventory.bufByAddress(mmap, ROOM, ROOM);
        RdmaReceiveTask task = rdma.allocateReceive(buf);
        buf.retain();
        task.submit();
        peer.message(type, lengthBytes, word);
        drive("the message", () -> !received.isEmpty());

        assertThat(received).containsExactly(Status.SUCCESS);
        assertThat(opcodes).containsExactly(opcode);
        assertThat(task.resultLength()).isEqualTo(length);
        assertThat(task.resultImmediate()).isEqualTo(immediate);
        assertThat(buf.dataLength())
                .as("grows by a message alone")
                .isEqualTo(opcode == RdmaOpcode.SEND_IMMEDIATE ? length : 0);
        buf.release();
        assertGuard();
    }

    @ParameterizedTest
    @CsvSource({
        "514, 8, 4096", // a send within a send with immediate
        "772, 0, 8", // a write with immediate within it
        "516, 8, 4096",
        "515, 9, 4096", // too long
        "515, 8, 0", // at the wrong place
    })
    void shouldEndTheConnectionOnABadSecondFragmentOfASendWithImmediate(
            int type, int lengthBytes, long word) throws Exception {
        connect();
        guard();
        post();
        peer.message(
                ShmWire.OPCODE_SEND_IMMEDIATE | ShmWire.FLAG_FIRST,
                SLOT,
                ShmWire.firstWord(SLOT + 8L, 7));
        peer.message(type, lengthBytes, word);

        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.UNEXPECTED);
        assertThat(received).containsExactly(Status.CONNECTION_ABORTED);
        assertGuard();
    }

    @Test
    void shouldEndTheConnectionOnAWriteWithImmediateThatIsNotGranted() throws Exception {
        rdma.stop();
        drive("idle", () -> rdma.state() == ContextState.IDLE);
        rdma.setPermissions(Permissions.of(AccessFlag.RDMA_READ));
        rdma.start();
        connection = rdma.exportConnection();
        peer.close();
        peer = new HostilePeer(otherDevice, connection.blob());
        connect();
        post();
        peer.message(ShmWire.OPCODE_WRITE_IMMEDIATE | ShmWire.FLAG_FIRST | ShmWire.FLAG_LAST, 0, 0);

        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.UNEXPECTED);
        assertThat(connection.failureReason()).contains("write with immediate is not granted");
        assertThat(received).containsExactly(Status.CONNECTION_ABORTED);
    }

    @ParameterizedTest
    @CsvSource({
        "258, 4096, 8192", // first inside a message
        "2, 4096, 0", // middle with the wrong offset
        "2, 4096, 8192",
        "514, 4095, 4096", // last one byte short
        "2, 4096, 4096", // last without the mark
        "514, 4096, -4096",
    })
    void shouldEndTheConnectionOnABadSecondFragment(int type, int lengthBytes, long word)
            throws Exception {
        connect();
        guard();
        post();
        peer.message(FIRST, SLOT, ShmWire.firstWord(2L * SLOT, 0));
        peer.message(type, lengthBytes, word);

        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.UNEXPECTED);
        assertThat(received).containsExactly(Status.CONNECTION_ABORTED);
        assertGuard();
    }

    @Test
    void shouldTakeAGoodMessageOfThreeFragments() throws Exception {
        connect();
        guard();
        post();
        peer.message(FIRST, SLOT, ShmWire.firstWord(2L * SLOT + 5, 0));
        peer.message(MIDDLE, SLOT, SLOT);
        peer.message(LAST, 5, 2L * SLOT);

        drive("the message", () -> !received.isEmpty());
        assertThat(received).containsExactly(Status.SUCCESS);
        assertGuard();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 130, 0, 1})
    void shouldTakeNoOtherStampForAMessage(long stamp) throws Exception {
        connect();
        post();
        long slot = SLOTS_OFFSET + ShmConnection.GEOMETRY.strideBytes(); // behind the hello
        peer.pokeVictimRing(slot + STAMP_OFFSET, stamp);
        for (int i = 0; i < 100; i++) {
            engine.progress();
        }
        assertThat(received).isEmpty();

        peer.message(ONE, 8, ShmWire.firstWord(8, 0));
        drive("the message", () -> !received.isEmpty());
        assertThat(received).containsExactly(Status.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 100})
    void shouldEndTheConnectionOnAnImpossibleConsumerIndex(long index) throws Exception {
        connect();
        rdma.allocateSend(connection, null).submit();
        peer.pokeOwnRing(CONSUMED_OFFSET, index);

        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.UNEXPECTED);
        assertThat(sent).containsExactly(Status.CONNECTION_ABORTED);
    }

    @ParameterizedTest
    @CsvSource({
        "2, IO_FAILED, IO_FAILED",
        "3, CONNECTION_ABORTED, UNEXPECTED",
        "4, CONNECTION_RESET, CONNECTION_RESET",
        "-1, CONNECTION_RESET, CONNECTION_RESET",
        "99, CONNECTION_RESET, CONNECTION_RESET"
    })
    void shouldTakeAnyStatusWordForAnEnd(int status, Status ofTask, Status ofConnection)
            throws Exception {
        connect();
        rdma.allocateSend(connection, null).submit();
        peer.inbound.setStatus(status);

        driveToFailure();
        assertThat(sent).containsExactly(ofTask);
        assertThat(connection.failure()).isEqualTo(ofConnection);
    }

    @Test
    void shouldSurviveAPeerThatScribblesOverTheRing(SeededRandom random) throws Exception {
        connect();
        guard();
        int[] types = {ONE, FIRST, MIDDLE, LAST, 0, -1};
        for (int round = 0; round < 5000 && rdma.state() == ContextState.RUNNING; round++) {
            if (rdma.inFlightTasks() < 8) {
                post();
            }
            long message = peer.consumedByVictim() + random.nextLong(4);
            long at = SLOTS_OFFSET + message % 128 * ShmConnection.GEOMETRY.strideBytes();
            long type = types[random.nextInt(random.chance(0.01) ? 6 : 1)];
            long length = random.chance(0.01) ? random.nextInt() : random.nextInt(64);
            peer.pokeVictimRing(at, type << 32 | (length & 0xffff_ffffL));
            peer.pokeVictimRing(at + 8, random.chance(0.01) ? random.nextLong() : length);
            peer.pokeVictimRing(
                    at + STAMP_OFFSET, random.chance(0.001) ? random.nextLong() : message + 1);
            engine.progress();
        }
        assertGuard();
    }

    @Test
    void shouldNotBeKeptByAPeerThatNeverStopsSending() throws Exception {
        connect();
        for (int i = 0; i < 16; i++) {
            post();
        }
        for (int i = 0; i < 100; i++) {
            peer.message(ONE, 8, ShmWire.firstWord(8, 0));
        }
        engine.progress();
        assertThat(received).as("a bounded number in one progress").hasSizeLessThanOrEqualTo(64);
    }

    @Test
    void shouldCopyASliceOfALongMessagePerProgressHoweverFastThePeerTakesIt(SeededRandom random)
            throws Exception {
        connect();
        fill(random);
        long before = engine.messageBytesCopied();

        submitSend(0, bytes.byteSize());

        assertThat(engine.messageBytesCopied() - before)
                .as("bytes copied by submit")
                .isEqualTo(Copier.SLICE_BYTES);
        long offset = takeFragments(0);
        while (offset < bytes.byteSize()) {
            assertThat(sent).as("completed before the peer has all of it").isEmpty();
            assertThat(bytesCopiedByOneProgress()).isEqualTo(Copier.SLICE_BYTES);
            offset = takeFragments(offset);
        }
        drive("the message is sent", () -> !sent.isEmpty());
        assertThat(sent).containsExactly(Status.SUCCESS);
    }

    @Test
    void shouldCopyASliceOfManyMessagesPerProgress(SeededRandom random) throws Exception {
        connect();
        fill(random);
        int length = 32 * SLOT;
        for (int i = 0; i < 8; i++) {
            submitSend((long) i * length, length);
        }
        long offset = 0; // of the memory: the messages stand in it one behind the other
        for (int i = 0; i < 4; i++) { // what the ring holds
            offset = takeMessage(offset, length);
        }

        assertThat(bytesCopiedByOneProgress()).isEqualTo(Copier.SLICE_BYTES);
        assertThat(bytesCopiedByOneProgress()).isEqualTo(Copier.SLICE_BYTES);
        for (int i = 0; i < 4; i++) {
            offset = takeMessage(offset, length);
        }
        drive("all messages are sent", () -> sent.size() == 8);
        assertThat(sent).containsOnly(Status.SUCCESS);
    }

    @Test
    void shouldCountWhatCallbacksSendAgainstTheSlice(SeededRandom random) throws Exception {
        connect();
        fill(random);
        int length = 8 * SLOT;
        for (int i = 0; i < 16; i++) {
            submitSend((long) i * length, length);
        }
        for (int i = 0; i < 16; i++) {
            long _ = takeMessage((long) i * length, length);
        }
        onSent =
                () -> {
                    if (sent.size() <= 16) {
                        submitSend((sent.size() - 1L) * length, length);
                    }
                };

        assertThat(bytesCopiedByOneProgress()).isEqualTo(Copier.SLICE_BYTES);
        assertThat(sent).hasSize(16);
        assertThat(bytesCopiedByOneProgress()).isEqualTo(Copier.SLICE_BYTES);
        for (int i = 0; i < 16; i++) {
            long _ = takeMessage((long) i * length, length);
        }
        drive("all messages are sent", () -> sent.size() == 32);
    }

    @Test
    void shouldNotSleepWhileARestOfAMessageWaitsForItsSlice(SeededRandom random) throws Exception {
        connect();
        fill(random);
        submitSend(0, bytes.byteSize());
        assertThat(takeFragments(0)).isEqualTo(Copier.SLICE_BYTES);
        assertThat(bytesCopiedByOneProgress()).isEqualTo(Copier.SLICE_BYTES);

        engine.requestNotification(); // the peer takes nothing from here on, and rings nothing
        boolean notified = engine.awaitNotification(Patience.LIMIT);
        engine.clearNotification();

        assertThat(notified).as("the ring has room and the message a rest").isTrue();
        assertThat(bytesCopiedByOneProgress()).isEqualTo(Copier.SLICE_BYTES);
        assertThat(takeFragments(Copier.SLICE_BYTES)).isEqualTo(3 * Copier.SLICE_BYTES);
    }

    private void fill(SeededRandom random) {
        for (long at = 0; at < bytes.byteSize(); at += Long.BYTES) {
            bytes.set(ValueLayout.JAVA_LONG, at, random.nextLong());
        }
    }

    private void submitSend(long offset, long length) {
        rdma.allocateSend(connection, inventory.bufByData(mmap, offset, length)).submit();
    }

    private long bytesCopiedByOneProgress() {
        long before = engine.messageBytesCopied();
        engine.progress();
        return engine.messageBytesCopied() - before;
    }

    /**
     * Receives the present fragments of a message over the whole memory; returns the next offset.
     */
    private long takeFragments(long from) {
        long offset = from;
        while (offset < bytes.byteSize()) {
            long at = peer.inbound.poll();
            if (at < 0) {
                break;
            }
            requireFragment(at, 0, bytes.byteSize(), offset);
            offset += peer.inbound.length();
            peer.inbound.release();
        }
        return offset;
    }

    /** Receives a whole message that begins at an offset of the memory; returns the next offset. */
    private long takeMessage(long begin, long length) {
        for (long offset = 0; offset < length; offset += SLOT) {
            long at = peer.inbound.poll();
            assertThat(at).as("a fragment is there: begin=" + begin).isNotNegative();
            requireFragment(at, begin, length, offset);
            peer.inbound.release();
        }
        return begin + length;
    }

    private void requireFragment(long at, long begin, long length, long offset) {
        boolean first = offset == 0;
        assertThat(peer.inbound.type())
                .isEqualTo(
                        MIDDLE
                                | (first ? ShmWire.FLAG_FIRST : 0)
                                | (offset + SLOT == length ? ShmWire.FLAG_LAST : 0));
        assertThat(peer.inbound.word()).isEqualTo(first ? ShmWire.firstWord(length, 0) : offset);
        assertThat(peer.inbound.length()).isEqualTo(SLOT);
        long from = begin + offset;
        assertThat(
                        MemorySegment.mismatch(
                                peer.inbound.segment(), at, at + SLOT, bytes, from, from + SLOT))
                .as("content of the fragment at " + from)
                .isEqualTo(-1);
    }

    @Test
    void shouldEndWhenThePeerGoesWithoutAWord() throws Exception {
        connect();
        post();
        peer.close();
        driveToFailure();
        assertThat(connection.failure()).isEqualTo(Status.CONNECTION_RESET);
        peer = new HostilePeer(otherDevice, connection.blob()); // for the clean-up
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTakeWhatAPeerHasLeftBeforeItWent(boolean orderly) throws Exception {
        connect();
        for (int i = 0; i < 100; i++) {
            post();
            peer.message(ONE, 8, ShmWire.firstWord(8, 0));
        }
        if (orderly) {
            peer.inbound.setStatus(ShmWire.STATUS_DISCONNECTED);
        }
        peer.close();
        drive("end", () -> connection.state().compareTo(RdmaConnection.State.CONNECTED) > 0);

        assertThat(received.stream().filter(status -> status == Status.SUCCESS)).hasSize(100);
        assertThat(connection.state())
                .isEqualTo(
                        orderly ? RdmaConnection.State.DISCONNECTED : RdmaConnection.State.FAILED);
        peer = new HostilePeer(otherDevice, connection.blob()); // for the clean-up
    }

    @Test
    void shouldNotLingerForAPeerThatSaysItHasGoneAndGoesOnWriting() throws Exception {
        connect();
        send(120); // more than one progress takes
        peer.inbound.setStatus(ShmWire.STATUS_DISCONNECTED);
        for (int round = 0;
                round < 1000 && connection.state() == RdmaConnection.State.CONNECTED;
                round++) {
            int before = received.size();
            engine.progress();
            send(received.size() - before);
        }
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.DISCONNECTED);
    }

    private void send(int messages) {
        for (int i = 0; i < messages; i++) {
            post();
            peer.message(ONE, 8, ShmWire.firstWord(8, 0));
        }
    }

    private void connect() throws Exception {
        rdma.connect(peer.blob(), connection);
        peer.receiveLimit(Long.MAX_VALUE).lease().hello();
        drive("connection", () -> connection.state() == RdmaConnection.State.CONNECTED);
        assertThat(peer.inbound.poll()).as("the victim's hello").isNotNegative();
        peer.inbound.release();
    }

    private void post() {
        Buf buf = inventory.bufByAddress(mmap, ROOM, ROOM);
        rdma.allocateReceive(buf).submit();
    }

    /** Fills the memory around the destination of messages. */
    private void guard() {
        bytes.fill((byte) 0xa5);
    }

    private void assertGuard() {
        byte[] expected = new byte[(int) bytes.byteSize() - 2 * ROOM];
        Arrays.fill(expected, (byte) 0xa5);
        MemorySegment guard = MemorySegment.ofArray(expected);
        assertThat(bytes.asSlice(0, ROOM).mismatch(guard.asSlice(0, ROOM))).isEqualTo(-1);
        assertThat(bytes.asSlice(2 * ROOM).mismatch(guard)).isEqualTo(-1);
    }

    private void driveToFailure() {
        drive("failure", () -> rdma.state() == ContextState.IDLE);
        assertThat(connection.state()).isEqualTo(RdmaConnection.State.FAILED);
    }

    private void drive(String what, BooleanSupplier condition) {
        Await.until(
                what,
                () -> {
                    engine.progress();
                    return condition.getAsBoolean();
                });
    }
}
