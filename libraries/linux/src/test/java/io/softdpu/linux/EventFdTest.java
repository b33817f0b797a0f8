package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class EventFdTest {
    private final OpenFiles files = new OpenFiles();

    @AfterEach
    void closeFiles() {
        files.close();
    }

    private static boolean isReadable(int fd) {
        try (Epoll epoll = new Epoll(1)) {
            epoll.add(fd, Epoll.IN, 0);
            return epoll.await(0) == 1;
        }
    }

    @Test
    void shouldBeReadableFromSignalToDrain() {
        int fd = files.own(EventFd.create());
        assertThat(isReadable(fd)).isFalse();

        EventFd.signal(fd);
        EventFd.signal(fd);
        assertThat(isReadable(fd)).isTrue();

        EventFd.drain(fd);
        assertThat(isReadable(fd)).isFalse();
    }

    @Test
    void shouldDrainWhatWasNotSignalled() {
        int fd = files.own(EventFd.create());

        EventFd.drain(fd);

        assertThat(isReadable(fd)).isFalse();
    }

    @Test
    void shouldNotWaitWhereTheCounterIsFull() throws Throwable {
        int fd = files.own(EventFd.create());
        MethodHandle write =
                Libc.bind("write", Libc.LONG, Libc.INT, ValueLayout.ADDRESS, Libc.LONG);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment most = arena.allocateFrom(ValueLayout.JAVA_LONG, -2L);
            long written = (long) write.invokeExact(CallState.current().errno, fd, most, 8L);
            assertThat(written).isEqualTo(8);
        }

        EventFd.signal(fd);

        assertThat(isReadable(fd)).isTrue();
        EventFd.drain(fd);
        assertThat(isReadable(fd)).isFalse();
    }

    @Test
    void shouldBeNonBlockingAndCloseOnExec() {
        int fd = files.own(EventFd.create());

        OpenFiles.assertNonBlocking(fd);
        OpenFiles.assertCloseOnExec(fd);
    }

    @Test
    void shouldNameTheDescriptorThatIsNoEventFd() {
        int fd = Integer.MAX_VALUE;

        assertThatThrownBy(() -> EventFd.signal(fd))
                .hasMessage("write failed: errno=9 (EBADF), eventFd=" + fd);
        assertThatThrownBy(() -> EventFd.drain(fd))
                .hasMessage("read failed: errno=9 (EBADF), eventFd=" + fd);
    }
}
