package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/**
 * Descriptors of a test: closes those that it was given, then checks that no other descriptor of
 * the kinds that this module creates was leaked or has vanished. Files are not counted, since the
 * JVM opens jars whenever it likes.
 */
final class OpenFiles implements AutoCloseable {
    private final Map<Integer, String> before = snapshot();
    private final Deque<Integer> owned = new ArrayDeque<>();

    /** Notes a descriptor to be closed at the end. */
    int own(int fd) {
        owned.push(fd);
        return fd;
    }

    /** Two connected sockets, closed at the end. */
    int[] pair() {
        int[] pair = UnixSocket.pair();
        own(pair[0]);
        own(pair[1]);
        return pair;
    }

    /** Closes a noted descriptor now. */
    void close(int fd) {
        assertThat(owned.remove((Object) fd)).as("descriptor %d is owned", fd).isTrue();
        FileDescriptors.close(fd);
    }

    @Override
    public void close() {
        while (!owned.isEmpty()) {
            FileDescriptors.close(owned.pop());
        }
        assertThat(snapshot()).as("descriptors left open").isEqualTo(before);
    }

    /** Sockets, memfds, pipes and anonymous inodes of this process, by descriptor. */
    static Map<Integer, String> snapshot() {
        Map<Integer, String> found = new TreeMap<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path fd : all) {
                String target;
                try {
                    target = Files.readSymbolicLink(fd).toString();
                } catch (NoSuchFileException closedMeanwhile) {
                    continue;
                }
                if (!target.startsWith("/") || target.startsWith("/memfd:")) {
                    found.put(Integer.valueOf(fd.getFileName().toString()), target);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    /** The flags of a descriptor in {@code /proc}, O_CLOEXEC included. */
    static int flagsInProc(int fd) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo/" + fd))) {
                if (line.startsWith("flags:")) {
                    return Integer.parseInt(line.substring("flags:".length()).strip(), 8);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new AssertionError("no flags in /proc/self/fdinfo/" + fd);
    }

    static void assertCloseOnExec(int fd) {
        assertThat(flagsInProc(fd) & 0x8_0000).as("close-on-exec of descriptor %d", fd).isNotZero();
    }

    static void assertNonBlocking(int fd) {
        assertThat(flagsInProc(fd) & FileDescriptors.O_NONBLOCK)
                .as("non-blocking flag of descriptor %d", fd)
                .isNotZero();
    }
}
