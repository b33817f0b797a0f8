package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.Stream;

/**
 * Snapshot of the kernel resources of this process: its descriptors, without the jars that the JVM
 * opens when it needs a class, and its shared file mappings, which include all of this module. Two
 * are equal if nothing was leaked and nothing was closed twice.
 */
record ResourceSnapshot(List<String> descriptors, List<String> sharedMappings) {
    /** Long ago, so that any access shows whatever the clock's resolution. */
    private static final FileTime NEVER = FileTime.fromMillis(1_000);

    static ResourceSnapshot now() {
        return new ResourceSnapshot(
                ProcessView.self().descriptors().stream()
                        .filter(target -> !target.endsWith(".jar"))
                        .toList(),
                sharedMappingsNow());
    }

    /** Lines of /proc/self/maps: range, permissions, offset, device, inode and name. */
    private static List<String> sharedMappingsNow() {
        try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
            return mappings.filter(mapping -> mapping.split(" ", 3)[1].endsWith("s")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Waits until this process holds what it held before. What came from a peer is closed on a
     * thread for that, soon after the answer.
     */
    static void awaitAgain(ResourceSnapshot before) {
        if (!Await.holdsWithin(Patience.LIMIT, () -> now().equals(before))) {
            assertThat(now()).isEqualTo(before);
        }
    }

    /** From here on {@link #wasMapped} tells whether a file has been mapped. */
    static void forgetMappings(int descriptor) {
        try {
            Files.getFileAttributeView(procPath(descriptor), BasicFileAttributeView.class)
                    .setTimes(null, NEVER, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Whether a process has mapped the file, or tried to, since {@link #forgetMappings}: mmap
     * counts as an access and moves the file's access time. That also shows a mapping that is gone
     * again.
     */
    static boolean wasMapped(int descriptor) {
        try {
            return !Files.getAttribute(procPath(descriptor), "lastAccessTime").equals(NEVER);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A way to a descriptor's file by name, whether it has one or not. */
    static Path procPath(int descriptor) {
        return Path.of("/proc/self/fd/" + descriptor);
    }
}
