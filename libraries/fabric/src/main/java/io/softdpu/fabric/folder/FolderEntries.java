package io.softdpu.fabric.folder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Names of the files that softdpu creates in a fabric folder. The folder holds nothing else, except
 * what a file system puts there by itself, so that a folder with another purpose is recognised
 * before a file is created in it.
 *
 * <p>Any thread.
 */
final class FolderEntries {
    static final String TOPOLOGY_FILE = "topology";
    static final String HOTPLUG_FILE = "hotplug";

    private static final Set<String> FIXED =
            Set.of(
                    TOPOLOGY_FILE,
                    HOTPLUG_FILE,
                    HOTPLUG_FILE + SharedTextFile.LOCK_SUFFIX,
                    HOTPLUG_FILE + SharedTextFile.NEW_SUFFIX);

    private static final Pattern OF_SERVED_NAME = Pattern.compile("[0-9a-f]{16}\\.(lock|sock)");

    /** Folder for found files, in the topmost folder of an ext file system. */
    private static final String LOST_AND_FOUND = "lost+found";

    /** A file that was deleted while it was open, as an NFS client keeps it until it is closed. */
    private static final Pattern DELETED_ON_NFS = Pattern.compile("\\.nfs[0-9a-f]{24}");

    /**
     * Limit of entries that are examined. Reading a folder costs by its size, and one that begins
     * with this many own files is a fabric folder.
     */
    private static final int SCAN_LIMIT = 4096;

    private FolderEntries() {}

    /** True for the name of a file that softdpu creates. */
    static boolean isOwn(String name) {
        return FIXED.contains(name) || OF_SERVED_NAME.matcher(name).matches();
    }

    /**
     * True for an entry that the file system has created, not a program, also if it has gone since
     * it was listed.
     */
    private static boolean isOfFileSystem(Path entry, String name) throws IOException {
        boolean ofFolder = name.equals(LOST_AND_FOUND);
        if (!ofFolder && !DELETED_ON_NFS.matcher(name).matches()) {
            return false;
        }
        try {
            BasicFileAttributes found =
                    Files.readAttributes(
                            entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return ofFolder ? found.isDirectory() : found.isRegularFile();
        } catch (NoSuchFileException e) {
            return true;
        }
    }

    /**
     * The first entry that neither softdpu nor the file system creates.
     *
     * @param folder the folder, or its open descriptor in {@code /proc/self/fd}
     * @return its name; empty if there is none among the first 4,096 entries
     * @throws UncheckedIOException if the folder cannot be read
     */
    static Optional<String> firstForeign(Path folder) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            int seen = 0;
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                if (!isOwn(name) && !isOfFileSystem(entry, name)) {
                    return Optional.of(name);
                }
                if (++seen == SCAN_LIMIT) {
                    break;
                }
            }
            return Optional.empty();
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException(e.getCause());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
