package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class UnixSocketTest {
    private static final int ROOM_BYTES = 4096;

    @TempDir Path folder;

    private final OpenFiles files = new OpenFiles();
    private final ReceivedMessage message = new ReceivedMessage(ROOM_BYTES, 4);

    @AfterEach
    void closeFiles() {
        message.close();
        files.close();
    }

    private String path(String name) {
        return folder.resolve(name).toString();
    }

    private int listener(String path, int backlog) {
        int fd = files.own(UnixSocket.create());
        UnixSocket.bind(fd, path);
        Socket.listen(fd, backlog);
        return fd;
    }

    private static int send(int fd, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return Socket.send(fd, MemorySegment.ofArray(bytes), bytes.length);
    }

    private String receive(int fd) {
        int length = DescriptorPassing.receive(fd, message);
        assertThat(length).as("result of receive").isPositive().isEqualTo(message.length());
        byte[] bytes = message.segment().asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    @Test
    void shouldMakeEverySocketNonBlockingAndCloseOnExec() {
        int server = listener(path("s"), 1);
        int client = files.own(UnixSocket.create());
        assertThat(UnixSocket.connect(client, path("s"))).isZero();
        int accepted = files.own(Socket.accept(server));
        int[] pair = files.pair();

        for (int fd : new int[] {server, client, accepted, pair[0], pair[1]}) {
            OpenFiles.assertCloseOnExec(fd);
            OpenFiles.assertNonBlocking(fd);
        }
    }

    @Test
    void shouldConnectByPathAndTellWhoThePeerIs() {
        int server = listener(path("s"), 1);
        int client = files.own(UnixSocket.create());

        assertThat(UnixSocket.connect(client, path("s"))).isZero();
        int accepted = files.own(Socket.accept(server));

        assertThat(send(client, "hello")).isZero();
        assertThat(receive(accepted)).isEqualTo("hello");
        PeerCredentials peer = UnixSocket.peerCredentials(accepted);
        assertThat(peer.pid()).isEqualTo(Identity.pid());
        assertThat(peer.uid()).isEqualTo(Identity.effectiveUid());
        assertThat(UnixSocket.peerCredentials(client)).isEqualTo(peer);
    }

    @Test
    void shouldSayThatNoConnectionIsPending() {
        assertThat(Socket.accept(listener(path("s"), 1))).isEqualTo(-1);
    }

    @Test
    void shouldReturnTheOrdinaryFailuresOfConnect() {
        int bound = files.own(UnixSocket.create());
        UnixSocket.bind(bound, path("left over"));
        listener(path("busy"), 0);
        assertThat(UnixSocket.connect(files.own(UnixSocket.create()), path("busy"))).isZero();

        int client = files.own(UnixSocket.create());

        assertThat(UnixSocket.connect(client, path("missing"))).isEqualTo(Errno.ENOENT);
        assertThat(UnixSocket.connect(client, path("left over"))).isEqualTo(Errno.ECONNREFUSED);
        assertThat(UnixSocket.connect(client, path("busy"))).isEqualTo(Errno.EAGAIN);
    }

    @Test
    void shouldThrowWhereConnectingMakesNoSense() throws IOException {
        Files.writeString(folder.resolve("file"), "");
        int client = files.own(UnixSocket.create());

        assertThatThrownBy(() -> UnixSocket.connect(client, path("file/below")))
                .hasMessage(
                        "connect failed: errno=20 (ENOTDIR), fd="
                                + client
                                + ", path="
                                + path("file/below"));
    }

    @Test
    void shouldNameThePathThatIsTaken() {
        listener(path("s"), 1);
        int second = files.own(UnixSocket.create());

        assertThatThrownBy(() -> UnixSocket.bind(second, path("s")))
                .isInstanceOf(LinuxException.class)
                .hasMessage(
                        "bind failed: errno=98 (EADDRINUSE), fd=" + second + ", path=" + path("s"));
    }

    @Test
    void shouldRefuseAPathThatDoesNotFitBeforeAskingTheKernel() {
        int fd = files.own(UnixSocket.create());
        String path = "/" + "p".repeat(UnixSocket.MAX_PATH_BYTES);

        assertThatThrownBy(() -> UnixSocket.bind(fd, path))
                .hasMessage(
                        "bind failed: errno=36 (ENAMETOOLONG), path="
                                + path
                                + ", bytes=108, limit=107");
        assertThatThrownBy(() -> UnixSocket.connect(fd, path))
                .hasMessageStartingWith("connect failed: errno=36 (ENAMETOOLONG)");
    }

    @Test
    void shouldReachADeepFolderThroughItsDescriptor() throws IOException {
        Path deep = Files.createDirectory(folder.resolve("d".repeat(150)));
        int directory = files.own(FileDescriptors.open(deep.toString(), FileDescriptors.O_PATH, 0));

        String shortPath = "/proc/self/fd/" + directory + "/" + "s".repeat(16);
        int server = listener(shortPath, 1);

        assertThat(deep.resolve("s".repeat(16))).exists();
        assertThat(UnixSocket.connect(files.own(UnixSocket.create()), shortPath)).isZero();
        files.own(Socket.accept(server));
    }

    @Test
    void shouldTakeThePathWithExactlyTheMostBytes() {
        int directory = files.own(FileDescriptors.open(folder.toString(), 0, 0));
        String prefix = "/proc/self/fd/" + directory + "/";
        String path = prefix + "x".repeat(UnixSocket.MAX_PATH_BYTES - prefix.length());

        listener(path, 1);

        assertThat(UnixSocket.connect(files.own(UnixSocket.create()), path)).isZero();
    }

    @Test
    void shouldStayOutOfTheAbstractNamespace() {
        int fd = files.own(UnixSocket.create());

        assertThatThrownBy(() -> UnixSocket.bind(fd, ""))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> UnixSocket.bind(fd, "\0abstract"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldKeepMessageBoundaries() {
        int[] pair = files.pair();

        assertThat(send(pair[0], "one")).isZero();
        assertThat(send(pair[0], "and two")).isZero();
        assertThat(Doorbell.ring(pair[0])).isZero();

        assertThat(receive(pair[1])).isEqualTo("one");
        assertThat(receive(pair[1])).isEqualTo("and two");
        assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(1);
        assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(-Errno.EAGAIN);
    }

    @Test
    void shouldCutAMessageThatIsTooLongAndReadTheNextOneWhole() {
        int[] pair = files.pair();
        ReceivedMessage small = new ReceivedMessage(4, 0);
        send(pair[0], "123456789");
        send(pair[0], "abcd");

        assertThat(DescriptorPassing.receive(pair[1], small)).isEqualTo(4);
        assertThat(small.truncated()).isTrue();
        assertThat(small.length()).isEqualTo(4);

        assertThat(DescriptorPassing.receive(pair[1], small)).isEqualTo(4);
        assertThat(small.truncated()).isFalse();
        assertThat(small.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 'a');
    }

    @Test
    void shouldSendFromTheHeapAndFromNativeMemory() {
        int[] pair = files.pair();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment outside = arena.allocateFrom("outside");

            assertThat(Socket.send(pair[0], outside, 7)).isZero();
        }
        send(pair[0], "inside");

        assertThat(receive(pair[1])).isEqualTo("outside");
        assertThat(receive(pair[1])).isEqualTo("inside");
    }

    @Test
    void shouldRefuseAMessageWithoutBytesOrBeyondItsSegment() {
        int[] pair = files.pair();
        MemorySegment bytes = MemorySegment.ofArray(new byte[4]);

        assertThatThrownBy(() -> Socket.send(pair[0], bytes, 0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Socket.send(pair[0], bytes, 5))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> DescriptorPassing.send(pair[0], bytes, 5, pair[0]))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldSayThatTheSocketIsFullAndGoOnOnceItIsDrained() {
        int[] pair = files.pair();
        int sent = 0;
        int result = 0;
        while (result == 0 && sent < 1_000_000) {
            result = Doorbell.ring(pair[0]);
            sent += result == 0 ? 1 : 0;
        }
        assertThat(result).isEqualTo(Errno.EAGAIN);

        int drained = 0;
        int once = Doorbell.drain(pair[1]);
        assertThat(once).isEqualTo(Doorbell.DRAIN_LIMIT);
        while (once > 0) {
            drained += once;
            once = Doorbell.drain(pair[1]);
        }

        assertThat(once).isZero();
        assertThat(drained).isEqualTo(sent);
        assertThat(Doorbell.ring(pair[0])).isZero();
    }

    @Test
    void shouldReportAMessageLargerThanAnyRoom() {
        int[] pair = files.pair();
        try (Arena arena = Arena.ofConfined()) {
            int length = 64 << 20;

            assertThat(Socket.send(pair[0], arena.allocate(length), length))
                    .isEqualTo(Errno.EMSGSIZE);
        }
    }

    @Test
    void shouldSeeTheEndAfterThePeerHasClosed() {
        int[] pair = files.pair();
        send(pair[0], "last words");

        files.close(pair[0]);

        assertThat(receive(pair[1])).isEqualTo("last words");
        assertThat(DescriptorPassing.receive(pair[1], message)).isZero();
        assertThat(DescriptorPassing.receive(pair[1], message)).isZero();
        assertThat(Doorbell.drain(pair[1])).isEqualTo(-1);
        assertThat(Doorbell.ring(pair[1])).isEqualTo(Errno.EPIPE);
    }

    @Test
    void shouldSeeAResetWhereThePeerClosedWithoutReading() {
        int[] pair = files.pair();
        send(pair[1], "unread");

        files.close(pair[0]);

        assertThat(DescriptorPassing.receive(pair[1], message)).isEqualTo(-Errno.ECONNRESET);
    }

    @Test
    void shouldCountAResetAsTheEndWhenDraining() {
        int[] pair = files.pair();
        send(pair[1], "unread");

        files.close(pair[0]);

        assertThat(Doorbell.drain(pair[1])).isEqualTo(-1);
    }

    @Test
    void shouldEndBothDirectionsAtShutdown() {
        int[] pair = files.pair();

        Socket.shutdown(pair[0]);
        Socket.shutdown(pair[0]);

        assertThat(DescriptorPassing.receive(pair[0], message)).isZero();
        assertThat(DescriptorPassing.receive(pair[1], message)).isZero();
        assertThat(Doorbell.ring(pair[1])).isEqualTo(Errno.EPIPE);
        Socket.shutdown(files.own(UnixSocket.create()));
    }

    @Test
    void shouldEndTheWritingHalfAloneAndStillSeeThePeersEnd() {
        int[] pair = files.pair();

        Socket.shutdownWrite(pair[0]);
        Socket.shutdownWrite(pair[0]);

        assertThat(DescriptorPassing.receive(pair[1], message)).isZero();
        assertThat(Doorbell.ring(pair[0])).isEqualTo(Errno.EPIPE);
        assertThat(send(pair[1], "still here")).isZero();
        assertThat(receive(pair[0])).isEqualTo("still here");
        assertThat(DescriptorPassing.receive(pair[0], message)).isEqualTo(-Errno.EAGAIN);
        files.close(pair[1]);
        assertThat(DescriptorPassing.receive(pair[0], message)).isZero();
    }

    @Test
    void shouldNameTheDescriptorThatIsNoSocket() {
        int memory = files.own(Memfd.create("test"));

        assertThatThrownBy(() -> Socket.listen(memory, 1))
                .hasMessage("listen failed: errno=88 (ENOTSOCK), fd=" + memory);
        assertThatThrownBy(() -> Socket.accept(memory))
                .hasMessage("accept4 failed: errno=88 (ENOTSOCK), fd=" + memory);
        assertThatThrownBy(() -> UnixSocket.peerCredentials(memory))
                .hasMessage("getsockopt(SO_PEERCRED) failed: errno=88 (ENOTSOCK), fd=" + memory);
        assertThatThrownBy(() -> Socket.shutdown(memory))
                .hasMessage("shutdown failed: errno=88 (ENOTSOCK), fd=" + memory);
        assertThatThrownBy(() -> Doorbell.drain(memory))
                .hasMessage("recv failed: errno=88 (ENOTSOCK), fd=" + memory);
        assertThat(Doorbell.ring(memory)).isEqualTo(Errno.ENOTSOCK);
        assertThat(DescriptorPassing.receive(memory, message)).isEqualTo(-Errno.ENOTSOCK);
    }
}
