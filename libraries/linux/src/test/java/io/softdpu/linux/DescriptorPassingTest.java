package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Descriptors that come with a message: taken or closed, never leaked. */
final class DescriptorPassingTest {
    private static final MemorySegment TEN_BYTES = MemorySegment.ofArray(new byte[10]);

    private final OpenFiles files = new OpenFiles();

    @AfterEach
    void closeFiles() {
        files.close();
    }

    private int[] memories(int count) {
        int[] fds = new int[count];
        for (int i = 0; i < count; i++) {
            fds[i] = files.own(Memfd.create("passed-" + i));
            FileDescriptors.truncate(fds[i], i + 1);
        }
        return fds;
    }

    @Test
    void shouldHandOverDescriptorsInOrderAndCloseOnExec() {
        int[] pair = files.pair();
        int[] sent = memories(3);
        ReceivedMessage message = new ReceivedMessage(64, 3);

        assertThat(DescriptorPassing.send(pair[0], TEN_BYTES, 10, sent)).isZero();
        assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(10);

        assertThat(message.truncated()).isFalse();
        assertThat(message.descriptors()).isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            int fd = files.own(message.takeDescriptor(i));
            assertThat(FileDescriptors.status(fd).isSameFile(FileDescriptors.status(sent[i])))
                    .isTrue();
            OpenFiles.assertCloseOnExec(fd);
        }
    }

    @Test
    void shouldCarryAsManyAsTheKernelAllows() {
        int[] pair = files.pair();
        int memory = memories(1)[0];
        int[] sent = new int[DescriptorPassing.MAX_DESCRIPTORS];
        Arrays.fill(sent, memory);
        Map<Integer, String> before = OpenFiles.snapshot();
        ReceivedMessage message = new ReceivedMessage(64, DescriptorPassing.MAX_DESCRIPTORS);

        assertThat(DescriptorPassing.send(pair[0], TEN_BYTES, 10, sent)).isZero();
        assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(10);

        assertThat(message.descriptors()).isEqualTo(DescriptorPassing.MAX_DESCRIPTORS);
        message.close();
        assertThat(OpenFiles.snapshot()).isEqualTo(before);
        assertThatThrownBy(() ->
                        DescriptorPassing.send(
                                pair[0],
                                TEN_BYTES,
                                10,
                                new int[DescriptorPassing.MAX_DESCRIPTORS + 1]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("too many descriptors: count=254, limit=253");
    }

    @Test
    void shouldCloseDescriptorsThatWereNotTaken() {
        int[] pair = files.pair();
        int[] sent = memories(3);
        Map<Integer, String> before = OpenFiles.snapshot();
        ReceivedMessage message = new ReceivedMessage(64, 3);
        DescriptorPassing.send(pair[0], TEN_BYTES, 10, sent);
        DescriptorPassing.receive(pair[1], message);

        FileDescriptors.close(message.takeDescriptor(1));
        message.close();
        message.close();

        assertThat(OpenFiles.snapshot()).isEqualTo(before);
    }

    @Test
    void shouldCloseDescriptorsThatWereNotTakenBeforeTheNextMessage() {
        int[] pair = files.pair();
        int[] sent = memories(2);
        Map<Integer, String> before = OpenFiles.snapshot();
        ReceivedMessage message = new ReceivedMessage(64, 3);
        DescriptorPassing.send(pair[0], TEN_BYTES, 10, sent);
        Socket.send(pair[0], TEN_BYTES, 1);

        DescriptorPassing.receive(pair[1], message);
        DescriptorPassing.receive(pair[1], message);

        assertThat(message.descriptors()).isZero();
        assertThat(OpenFiles.snapshot()).isEqualTo(before);
    }

    @Test
    void shouldHandEachDescriptorOutOnceOnly() {
        int[] pair = files.pair();
        ReceivedMessage message = new ReceivedMessage(64, 2);
        DescriptorPassing.send(pair[0], TEN_BYTES, 10, memories(1));
        DescriptorPassing.receive(pair[1], message);
        files.own(message.takeDescriptor(0));

        assertThatThrownBy(() -> message.takeDescriptor(0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("descriptor taken before: index=0");
        assertThatThrownBy(() -> message.takeDescriptor(1))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    /** Odd room is the trap: padding lets one descriptor more arrive than there is room for. */
    @ParameterizedTest(name = "room for {0}, {1} sent")
    @CsvSource({"0,1", "0,5", "1,2", "1,3", "2,3", "2,9", "3,4", "3,253"})
    void shouldCloseAllDescriptorsOfAMessageThatHasTooMany(int room, int count) {
        int[] pair = files.pair();
        int[] sent = new int[count];
        Arrays.fill(sent, memories(1)[0]);
        Map<Integer, String> before = OpenFiles.snapshot();
        ReceivedMessage message = new ReceivedMessage(64, room);

        assertThat(DescriptorPassing.send(pair[0], TEN_BYTES, 10, sent)).isZero();
        assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(10);

        assertThat(message.truncated()).isTrue();
        assertThat(message.descriptors()).isZero();
        assertThat(OpenFiles.snapshot()).isEqualTo(before);
    }

    @Test
    void shouldCloseAllDescriptorsOfAMessageThatIsTooLong() {
        int[] pair = files.pair();
        int[] sent = memories(2);
        Map<Integer, String> before = OpenFiles.snapshot();
        ReceivedMessage message = new ReceivedMessage(9, 4);

        DescriptorPassing.send(pair[0], TEN_BYTES, 10, sent);
        assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(9);

        assertThat(message.truncated()).isTrue();
        assertThat(message.descriptors()).isZero();
        assertThat(OpenFiles.snapshot()).isEqualTo(before);
    }

    @Test
    void shouldForgetAnEarlierTruncationAndLength() {
        int[] pair = files.pair();
        ReceivedMessage message = new ReceivedMessage(9, 0);
        Socket.send(pair[0], TEN_BYTES, 10);
        DescriptorPassing.receive(pair[1], message);
        assertThat(message.truncated()).isTrue();

        assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(-Errno.EAGAIN);

        assertThat(message.truncated()).isFalse();
        assertThat(message.length()).isZero();
    }

    @Test
    void shouldCloseTheDescriptorsOfADrainedMessage() {
        int[] pair = files.pair();
        int[] carried = files.pair();
        Map<Integer, String> before = OpenFiles.snapshot();
        DescriptorPassing.send(pair[0], TEN_BYTES, 1, carried[1]);

        assertThat(Doorbell.drain(pair[1])).isEqualTo(1);

        assertThat(OpenFiles.snapshot()).isEqualTo(before);
        // The last reference went with the message: the other end sees the end of the stream.
        files.close(carried[1]);
        assertThat(DescriptorPassing.receive(carried[0], new ReceivedMessage(1, 0))).isZero();
    }

    @Test
    void shouldCloseTheDescriptorsOfAnUnreadMessage() {
        int[] pair = files.pair();
        int[] carried = files.pair();
        DescriptorPassing.send(pair[0], TEN_BYTES, 10, carried[1]);
        files.close(carried[1]);
        assertThat(DescriptorPassing.receive(carried[0], new ReceivedMessage(1, 0)))
                .isEqualTo(-Errno.EAGAIN);

        files.close(pair[1]);

        assertThat(DescriptorPassing.receive(carried[0], new ReceivedMessage(1, 0))).isZero();
    }

    /** Made by hand: no method here sends a message without bytes. */
    @Test
    void shouldTakeAnEmptyMessageForTheEndAndCloseItsDescriptors() throws Throwable {
        int[] pair = files.pair();
        int memory = memories(1)[0];
        Map<Integer, String> before = OpenFiles.snapshot();
        ReceivedMessage message = new ReceivedMessage(64, 2);
        MethodHandle sendmsg =
                Libc.bind("sendmsg", Libc.LONG, Libc.INT, ValueLayout.ADDRESS, Libc.INT);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment control = arena.allocate(Abi.CmsgHdr.space(Integer.BYTES), 8);
            control.set(Libc.LONG, Abi.CmsgHdr.LENGTH, Abi.CmsgHdr.length(Integer.BYTES));
            control.set(Libc.INT, Abi.CmsgHdr.LEVEL, 1);
            control.set(Libc.INT, Abi.CmsgHdr.TYPE, DescriptorPassing.SCM_RIGHTS);
            control.set(Libc.INT, Abi.CmsgHdr.DATA, memory);
            MemorySegment header = arena.allocate(Abi.MsgHdr.BYTES, 8);
            header.set(Libc.LONG, Abi.MsgHdr.CONTROL, control.address());
            header.set(Libc.LONG, Abi.MsgHdr.CONTROL_LENGTH, control.byteSize());
            long sent = (long) sendmsg.invokeExact(CallState.current().errno, pair[0], header, 0);
            assertThat(sent).isZero();
        }

        assertThat(DescriptorPassing.receive(pair[1], message)).isZero();

        assertThat(message.descriptors()).isZero();
        assertThat(OpenFiles.snapshot()).isEqualTo(before);
    }

    @Test
    void shouldReportADescriptorThatCannotBeSent() {
        int[] pair = files.pair();

        assertThat(DescriptorPassing.send(pair[0], TEN_BYTES, 10, Integer.MAX_VALUE))
                .isEqualTo(Errno.EBADF);
    }

    @Test
    void shouldRefuseRoomThatMakesNoSense() {
        assertThatThrownBy(() -> new ReceivedMessage(0, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ReceivedMessage(1, DescriptorPassing.MAX_DESCRIPTORS + 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }
}
