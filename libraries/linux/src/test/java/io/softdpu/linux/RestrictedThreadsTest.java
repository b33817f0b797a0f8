package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.SystemCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks of restricted threads, which are enabled in all tests. */
final class RestrictedThreadsTest {
    private int memory;
    private long address;

    @BeforeEach
    void map() {
        assertThat(RestrictedThreads.CHECKED).isTrue();
        memory = Memfd.create("restricted");
        Memfd.allocate(memory, MemoryMapping.pageSize());
        address = MemoryMapping.map(memory, MemoryMapping.pageSize(), true);
    }

    @AfterEach
    void unmap() {
        RestrictedThreads.leave(null);
        MemoryMapping.unmap(address, MemoryMapping.pageSize());
        FileDescriptors.close(memory);
        RestrictedThreads.clear(); // they were made on purpose
    }

    @ParameterizedTest
    @EnumSource(
            value = RestrictedThreads.Scope.class,
            names = {"BUS", "PROGRESS"})
    void shouldRefuseEachCallOnARestrictedThread(RestrictedThreads.Scope scope) {
        int received = SystemCalls.duplicate(memory);
        RestrictedThreads.received(received);

        assertThat(RestrictedThreads.enter(scope)).isNull();

        refused("mmap", scope, () -> MemoryMapping.map(memory, MemoryMapping.pageSize(), true));
        refused("mmap", scope, () -> MemoryMapping.mapPrivate(MemoryMapping.pageSize()));
        refused("munmap", scope, () -> MemoryMapping.unmap(address, MemoryMapping.pageSize()));
        refused(
                "madvise",
                scope,
                () -> MemoryMapping.populate(address, MemoryMapping.pageSize(), true));
        refused("ftruncate", scope, () -> FileDescriptors.truncate(memory, 1));
        refused("close of a received descriptor", scope, () -> FileDescriptors.close(received));
        assertThat(RestrictedThreads.violations()).hasSize(6);
        FileDescriptors.close(received); // it counts once
    }

    @Test
    void shouldAllowOwnMemoryInProgressAndNotOnTheBus() {
        RestrictedThreads.enter(RestrictedThreads.Scope.PROGRESS);
        var before = RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY);
        MemoryMapping.populate(address, MemoryMapping.pageSize(), true);
        RestrictedThreads.leave(before);
        refused(
                "madvise",
                RestrictedThreads.Scope.PROGRESS,
                () -> MemoryMapping.populate(address, MemoryMapping.pageSize(), true));
        RestrictedThreads.leave(null);

        RestrictedThreads.enter(RestrictedThreads.Scope.BUS);
        RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY);

        refused(
                "madvise",
                RestrictedThreads.Scope.BUS,
                () -> MemoryMapping.populate(address, MemoryMapping.pageSize(), true));
    }

    @Test
    void shouldRefuseASocketThatAnEpollWatches() {
        int[] pair = UnixSocket.pair();
        Epoll closed = new Epoll(1);
        try (Epoll one = new Epoll(1);
                Epoll other = new Epoll(1)) {
            RestrictedThreads.requireUnwatched(pair[0]);
            one.add(pair[0], Epoll.IN, 0);
            other.add(pair[0], Epoll.IN, 0);
            closed.add(pair[1], Epoll.IN, 0);
            assertWatched(pair[0]);
            assertWatched(pair[1]);
            one.removeIfWatched(pair[0]);
            assertWatched(pair[0]);
            other.removeIfWatched(pair[0]);
            closed.close();
            RestrictedThreads.requireUnwatched(pair[0]);
            RestrictedThreads.requireUnwatched(pair[1]);
            one.add(pair[1], Epoll.IN, 0);
        } finally {
            FileDescriptors.close(pair[0]);
            FileDescriptors.close(pair[1]);
        }
        RestrictedThreads.requireUnwatched(pair[1]); // the number of a closed one
        assertThat(RestrictedThreads.violations()).hasSize(3);
    }

    private static void assertWatched(int socket) {
        assertThatThrownBy(() -> RestrictedThreads.requireUnwatched(socket))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("fd=" + socket, "expected=no epoll");
    }

    @Test
    void shouldAllowEverythingElsewhere() {
        int received = SystemCalls.duplicate(memory);
        RestrictedThreads.received(received);
        RestrictedThreads.enter(RestrictedThreads.Scope.OWN_MEMORY);

        MemoryMapping.populate(address, MemoryMapping.pageSize(), true);
        FileDescriptors.close(received);

        assertThat(RestrictedThreads.violations()).isEmpty();
    }

    private static void refused(String call, RestrictedThreads.Scope scope, Runnable work) {
        assertThatThrownBy(work::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("call=" + call + ", thread=")
                .hasMessageContaining("scope=" + scope);
    }
}
