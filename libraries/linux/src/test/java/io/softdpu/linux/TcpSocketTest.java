package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TcpSocketTest {
    private static final int SOON_MILLIS = (int) Patience.DEADLINE.toMillis();
    private static final InetAddress LOOPBACK = address("127.0.0.1");

    private final OpenFiles files = new OpenFiles();
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment room = arena.allocate(1 << 16);

    @AfterEach
    void closeFiles() {
        arena.close();
        files.close();
    }

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private int listener(InetAddress address) {
        int fd = files.own(TcpSocket.create(address));
        TcpSocket.bind(fd, new InetSocketAddress(address, 0));
        Socket.listen(fd, 16);
        return fd;
    }

    /** A socket whose connecting has been decided. */
    private int connect(InetSocketAddress to, int expected) {
        int fd = files.own(TcpSocket.create(to.getAddress()));
        int begun = TcpSocket.connect(fd, to);
        if (begun == Errno.EINPROGRESS) {
            await(fd, Epoll.OUT);
            begun = TcpSocket.connectResult(fd);
        }
        assertThat(Errno.name(begun)).isEqualTo(Errno.name(expected));
        return fd;
    }

    private int accept(int listener) {
        await(listener, Epoll.IN);
        return files.own(TcpSocket.accept(listener));
    }

    private int[] pair() {
        int listener = listener(LOOPBACK);
        int client = connect(TcpSocket.localAddress(listener), 0);
        int[] pair = {client, accept(listener)};
        files.close(listener);
        return pair;
    }

    private static void await(int fd, int events) {
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(fd, events, 1);
            assertThat(epoll.await(SOON_MILLIS)).as("descriptor is ready").isEqualTo(1);
        }
    }

    private static int write(int fd, String text) {
        return TcpSocket.write(fd, MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII)));
    }

    private String read(int fd) {
        await(fd, Epoll.IN);
        int count = TcpSocket.read(fd, room);
        assertThat(count).isPositive();
        return new String(
                room.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void shouldConnectAndTellBothAddresses(String text) throws IOException {
        InetAddress loopback = address(text);
        assumeThat(isUsable(loopback)).as("the system has " + text).isTrue();
        int listener = listener(loopback);
        InetSocketAddress at = TcpSocket.localAddress(listener);
        assertThat(at.getAddress()).isEqualTo(loopback);
        assertThat(at.getPort()).isPositive();

        int client = connect(at, 0);
        int accepted = accept(listener);

        assertThat(TcpSocket.remoteAddress(client)).isEqualTo(at);
        assertThat(TcpSocket.localAddress(accepted)).isEqualTo(at);
        assertThat(TcpSocket.remoteAddress(accepted)).isEqualTo(TcpSocket.localAddress(client));
        assertThat(write(client, "hello")).isEqualTo(5);
        assertThat(read(accepted)).isEqualTo("hello");
    }

    /** Whether this machine has that address, as Java sees it. */
    private static boolean isUsable(InetAddress address) {
        try (ServerSocket probe = new ServerSocket(0, 1, address)) {
            return probe.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void shouldTakeIpv4OnTheWildcardOfIpv6AndTellItsAddressAsSuch() {
        assumeThat(isUsable(address("::1"))).as("the system has IPv6").isTrue();
        int listener = listener(address("::"));

        int client =
                connect(
                        new InetSocketAddress(LOOPBACK, TcpSocket.localAddress(listener).getPort()),
                        0);
        int accepted = accept(listener);

        assertThat(TcpSocket.remoteAddress(accepted)).isEqualTo(TcpSocket.localAddress(client));
    }

    @Test
    void shouldMakeEverySocketNonBlockingAndCloseOnExec() {
        int listener = listener(LOOPBACK);
        int client = connect(TcpSocket.localAddress(listener), 0);

        for (int fd : new int[] {listener, client, accept(listener)}) {
            OpenFiles.assertCloseOnExec(fd);
            OpenFiles.assertNonBlocking(fd);
        }
    }

    @Test
    void shouldSayThatNothingIsPendingAndThatSomethingIs() {
        int listener = listener(LOOPBACK);
        assertThat(TcpSocket.hasPending(listener)).isFalse();
        assertThat(TcpSocket.accept(listener)).isEqualTo(-1);

        connect(TcpSocket.localAddress(listener), 0);

        await(listener, Epoll.IN);
        assertThat(TcpSocket.hasPending(listener)).isTrue();
        assertThat(files.own(TcpSocket.accept(listener))).isPositive();
        assertThat(TcpSocket.hasPending(listener)).isFalse();
    }

    @Test
    void shouldReportThatNoSocketListens() {
        int bound = files.own(TcpSocket.create(LOOPBACK));
        TcpSocket.bind(bound, new InetSocketAddress(LOOPBACK, 0));

        int refused = connect(TcpSocket.localAddress(bound), Errno.ECONNREFUSED);

        assertThat(Errno.text(Errno.ECONNREFUSED)).isEqualTo("Connection refused");
        assertThatThrownBy(() -> TcpSocket.remoteAddress(refused))
                .hasMessage("getpeername failed: errno=107 (ENOTCONN), fd=" + refused);
    }

    @Test
    void shouldSayThatItConnectsStillUntilThereIsAnAnswer() {
        int listener = files.own(TcpSocket.create(LOOPBACK));
        TcpSocket.bind(listener, new InetSocketAddress(LOOPBACK, 0));
        Socket.listen(listener, 0);
        InetSocketAddress busy = TcpSocket.localAddress(listener);
        connect(busy, 0);
        await(listener, Epoll.IN);
        int fd = files.own(TcpSocket.create(LOOPBACK));

        // One fills the queue; the kernel drops what comes after it.
        assertThat(TcpSocket.connect(fd, busy)).isEqualTo(Errno.EINPROGRESS);
        assertThat(TcpSocket.connectResult(fd)).isEqualTo(Errno.EINPROGRESS);
        assertThatThrownBy(() -> TcpSocket.connect(fd, busy)).hasMessageContaining("EALREADY");

        accept(listener);
        await(fd, Epoll.OUT);
        assertThat(TcpSocket.connectResult(fd)).isZero();
    }

    @Test
    void shouldSayThatNothingHasComeAndThatThereIsNoRoom() {
        int[] pair = pair();
        assertThat(TcpSocket.read(pair[0], room)).isEqualTo(-Errno.EAGAIN);

        long written = 0;
        int result;
        while ((result = TcpSocket.write(pair[0], room)) > 0) {
            written += result;
        }
        assertThat(Errno.name(-result)).isEqualTo("EAGAIN");

        long read = 0;
        while (read < written) {
            await(pair[1], Epoll.IN);
            int count = TcpSocket.read(pair[1], room);
            assertThat(count).isPositive();
            read += count;
        }
        assertThat(read).isEqualTo(written);
        assertThat(TcpSocket.read(pair[1], room)).isEqualTo(-Errno.EAGAIN);
        await(pair[0], Epoll.OUT);
        assertThat(write(pair[0], "more")).isEqualTo(4);
    }

    @Test
    void shouldStillSendToAPeerThatHasEndedItsHalf() {
        int[] pair = pair();
        assertThat(write(pair[0], "last")).isEqualTo(4);
        Socket.shutdownWrite(pair[0]);

        assertThat(read(pair[1])).isEqualTo("last");
        await(pair[1], Epoll.RDHUP);
        assertThat(TcpSocket.read(pair[1], room)).isZero();
        assertThat(TcpSocket.read(pair[1], room)).isZero();
        assertThat(write(pair[1], "answer")).isEqualTo(6);
        assertThat(read(pair[0])).isEqualTo("answer");
        assertThat(write(pair[0], "no")).isEqualTo(-Errno.EPIPE);
    }

    @Test
    void shouldTellOfAResetAndRaiseNoSignal() {
        int[] pair = pair();
        write(pair[0], "unread");
        await(pair[1], Epoll.IN);
        files.close(pair[1]); // with something unread: that is a reset

        await(pair[0], Epoll.RDHUP);
        assertThat(Errno.name(-TcpSocket.read(pair[0], room))).isEqualTo("ECONNRESET");
        assertThat(Errno.name(-write(pair[0], "more"))).isEqualTo("EPIPE");
    }

    @Test
    void shouldAcceptAConnectionThatWasResetWhileItWaited() {
        int listener = listener(LOOPBACK);
        int client = connect(TcpSocket.localAddress(listener), 0);
        await(listener, Epoll.IN);
        resetOnClose(client);
        files.close(client);

        int accepted = TcpSocket.accept(listener);

        if (accepted >= 0) { // Linux hands it out; another kernel may drop it
            files.own(accepted);
            await(accepted, Epoll.RDHUP);
            assertThat(TcpSocket.read(accepted, room)).isNotPositive();
        }
    }

    /** SO_LINGER with a time of 0. */
    private static void resetOnClose(int fd) {
        CallState state = CallState.current();
        state.scratch.set(Libc.INT, 0, 1);
        state.scratch.set(Libc.INT, Integer.BYTES, 0);
        assertThat(Socket.setOption(state, fd, Socket.SOL_SOCKET, 13, 2 * Integer.BYTES)).isZero();
    }

    /** A stop and its continuation end waits in epoll with EINTR, without any handler. */
    @Test
    @StartsProcesses
    void shouldMoveEveryByteWhileTheProcessIsStoppedAndContinued() throws Exception {
        int[] pair = pair();
        long total = 16L << 20;
        MemorySegment pattern = arena.allocate(1 << 16);
        for (int i = 0; i < pattern.byteSize(); i++) {
            pattern.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 >>> 3));
        }
        byte[] expected = pattern.toArray(ValueLayout.JAVA_BYTE);
        FutureTask<Long> reading =
                new FutureTask<>(() -> {
                    try (Arena own = Arena.ofConfined()) {
                        return readAll(pair[1], total, own.allocate(1 << 14), expected);
                    }
                });
        FutureTask<Long> writing =
                new FutureTask<>(() -> writeAll(pair[0], total, MemorySegment.ofArray(expected)));
        Thread.ofPlatform().start(reading);
        Thread.ofPlatform().start(writing);
        int stops = 0;
        while (stops++ < 10 || (!reading.isDone() && stops < 1000)) {
            stopAndContinueThisProcess();
        }

        assertThat(writing.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(total);
        assertThat(reading.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(total);
    }

    private static long writeAll(int fd, long total, MemorySegment pattern) {
        long done = 0;
        while (done < total) {
            long at = done % pattern.byteSize();
            long length = Math.min(pattern.byteSize() - at, total - done);
            int result = TcpSocket.write(fd, pattern.asSlice(at, length));
            if (result == -Errno.EAGAIN) {
                await(fd, Epoll.OUT);
            } else {
                assertThat(result).isPositive();
                done += result;
            }
        }
        return done;
    }

    private static long readAll(int fd, long total, MemorySegment room, byte[] expected) {
        long done = 0;
        while (done < total) {
            int result = TcpSocket.read(fd, room);
            if (result == -Errno.EAGAIN) {
                await(fd, Epoll.IN);
                continue;
            }
            assertThat(result).isPositive();
            for (int i = 0; i < result; i++) {
                byte wanted = expected[(int) ((done + i) % expected.length)];
                if (room.get(ValueLayout.JAVA_BYTE, i) != wanted) {
                    throw new AssertionError("wrong byte at " + (done + i));
                }
            }
            done += result;
        }
        return done;
    }

    private static void stopAndContinueThisProcess() throws IOException, InterruptedException {
        String pid = Long.toString(ProcessHandle.current().pid());
        Process helper =
                new ProcessBuilder("sh", "-c", "kill -STOP $0; kill -CONT $0", pid)
                        .inheritIO()
                        .start();
        assertThat(helper.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(helper.exitValue()).isZero();
    }

    @Test
    void shouldNameTheAddressThatIsTakenOrForeign() {
        int listener = listener(LOOPBACK);
        InetSocketAddress taken = TcpSocket.localAddress(listener);
        int second = files.own(TcpSocket.create(LOOPBACK));

        assertThatThrownBy(() -> TcpSocket.bind(second, taken))
                .isInstanceOf(LinuxException.class)
                .hasMessage(
                        "bind failed: errno=98 (EADDRINUSE), fd=" + second + ", address=" + taken);
        assertThatThrownBy(() ->
                        TcpSocket.bind(second, new InetSocketAddress(address("192.0.2.1"), 0)))
                .hasMessageStartingWith("bind failed: errno=99 (EADDRNOTAVAIL)")
                .hasMessageContaining("192.0.2.1");
    }

    @Test
    void shouldSetTheOptionsThatItIsAskedFor() {
        int fd = files.own(TcpSocket.create(LOOPBACK));
        for (boolean value : new boolean[] {true, false}) {
            TcpSocket.setNoDelay(fd, value);
            TcpSocket.setReuseAddress(fd, value);

            assertThat(option(fd, 6, 1)).as("TCP_NODELAY").isEqualTo(value);
            assertThat(option(fd, Socket.SOL_SOCKET, 2)).as("SO_REUSEADDR").isEqualTo(value);
        }
    }

    private static boolean option(int fd, int level, int option) {
        CallState state = CallState.current();
        assertThat(Socket.getOption(state, fd, level, option, Integer.BYTES)).isZero();
        return state.scratch.get(Libc.INT, 0) != 0;
    }

    @Test
    void shouldRefuseArgumentsThatMakeNoSense() {
        int[] pair = pair();
        InetSocketAddress unresolved = InetSocketAddress.createUnresolved("no.such.invalid", 1);
        InetSocketAddress somewhere = new InetSocketAddress(LOOPBACK, 9);
        MemorySegment empty = arena.allocate(0);
        int fd = files.own(TcpSocket.create(LOOPBACK));

        assertThatThrownBy(() -> TcpSocket.bind(fd, unresolved))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("address is unresolved: address=no.such.invalid");
        assertThatThrownBy(() -> TcpSocket.connect(fd, unresolved))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TcpSocket.read(pair[0], empty))
                .hasMessage("memory is empty: bytes=0, expected=1 or more");
        assertThatThrownBy(() -> TcpSocket.write(pair[0], empty))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TcpSocket.read(pair[0], MemorySegment.ofArray(new byte[8])))
                .hasMessageContaining("native=false");
        assertThatThrownBy(() -> TcpSocket.read(pair[0], room.asReadOnly()))
                .hasMessageContaining("readOnly=true");
        assertThatThrownBy(() -> TcpSocket.connect(pair[1], somewhere))
                .hasMessageContaining("EISCONN");
        assertThatThrownBy(() -> TcpSocket.read(fd, room)).hasMessageContaining("ENOTCONN");
        assertThatThrownBy(() -> TcpSocket.connect(-1, somewhere))
                .hasMessage("connect failed: errno=9 (EBADF), fd=-1, address=/127.0.0.1:9");
        assertThatThrownBy(() -> TcpSocket.connectResult(1 << 20)).hasMessageContaining("EBADF");
        assertThatThrownBy(() -> TcpSocket.read(-1, room)).hasMessageContaining("EBADF");
        assertThatThrownBy(() -> write(-1, "x")).hasMessageContaining("EBADF");
        assertThatThrownBy(() -> TcpSocket.setNoDelay(-1, true))
                .hasMessage("setsockopt(TCP_NODELAY) failed: errno=9 (EBADF), fd=-1, value=true");
        assertThatThrownBy(() -> TcpSocket.localAddress(files.pair()[0]))
                .hasMessageContaining("not a socket of IPv4 or IPv6");
        int file = files.own(Memfd.create("no socket"));
        assertThatThrownBy(() -> TcpSocket.read(file, room)).hasMessageContaining("ENOTSOCK");
    }
}
