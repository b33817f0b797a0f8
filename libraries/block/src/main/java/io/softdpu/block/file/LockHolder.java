package io.softdpu.block.file;

import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileStatus;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;

/**
 * Processes that hold locks of a file, for messages: the kernel attributes the lock of an open file
 * to none, but shows the locks of each descriptor in {@code /proc/PID/fdinfo}.
 */
final class LockHolder {
    private static final Path PROCESSES = Path.of("/proc");

    private LockHolder() {}

    /**
     * Finds them.
     *
     * @return {@code pids=[...]} of those that this user may examine
     */
    static String of(int fd) {
        FileStatus status = FileDescriptors.status(fd);
        String inode = ":" + status.inode() + " ";
        TreeSet<Long> pids = new TreeSet<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[0-9]*")) {
            for (Path process : processes) {
                if (holds(process.resolve("fdinfo"), inode)) {
                    pids.add(Long.parseLong(process.getFileName().toString()));
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return "pids=unknown";
        }
        return "pids=" + pids;
    }

    private static boolean holds(Path descriptors, String inode) {
        try (DirectoryStream<Path> each = Files.newDirectoryStream(descriptors)) {
            for (Path descriptor : each) {
                if (shows(descriptor, inode)) {
                    return true;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return false; // it has ended, or is not ours
        }
        return false;
    }

    private static boolean shows(Path descriptor, String inode) {
        try {
            for (String line : Files.readAllLines(descriptor)) {
                if (line.startsWith("lock:") && line.contains(" OFDLCK ") && line.contains(inode)) {
                    return true;
                }
            }
        } catch (IOException e) {
            return false; // it was closed meanwhile
        }
        return false;
    }
}
