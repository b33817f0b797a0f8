package io.softdpu.cli.doctor;

import io.softdpu.fabric.folder.FolderReport;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Checks of the folders that softdpu uses. */
final class FolderChecks {
    private FolderChecks() {}

    static Finding fabric(FolderReport report) {
        String detail =
                report.exists()
                        ? "path=%s, owner=%d, mode=0%o"
                                .formatted(report.path(), report.uid(), report.mode())
                        : "path=%s, exists=no, since no process has used it"
                                .formatted(report.path());
        String problem = report.problem();
        return problem == null
                ? Finding.ok("fabric folder", detail)
                : Finding.error(
                        "fabric folder",
                        problem,
                        "set SOFTDPU_FABRIC to a new folder, an absolute path");
    }

    /**
     * Files that killed processes have left.
     *
     * @param removed whether they were removed
     */
    static Finding leftovers(FolderReport report, boolean removed) {
        int count = report.leftovers().size();
        if (count == 0 || removed) {
            return Finding.ok("leftovers", "files=" + count + (removed ? ", removed=yes" : ""));
        }
        return Finding.warning(
                "leftovers",
                "files=" + count + ", first=" + report.leftovers().getFirst(),
                "softdpu doctor --remove-leftovers; the next process in the folder does it, too");
    }

    /**
     * The folder in which the launcher builds.
     *
     * @param named value of SOFTDPU_CACHE; empty if it is not set
     */
    static Finding cache(String named) {
        if (named.isEmpty()) {
            return Finding.ok("launcher cache", "folder=default");
        }
        Path path = Path.of(named);
        String problem = cacheProblem(path);
        return problem == null
                ? Finding.ok("launcher cache", "folder=" + named)
                : Finding.warning(
                        "launcher cache",
                        "folder=" + named + ", found=" + problem,
                        "set SOFTDPU_CACHE to the absolute path of a folder that you may write to");
    }

    /** The launcher creates the folder and those above it: the first that exists decides. */
    private static @Nullable String cacheProblem(Path path) {
        if (!path.isAbsolute()) {
            return "a relative path";
        }
        if (path.toString().contains(":")) {
            return "a colon, at which Java would end the path";
        }
        Path existing = path;
        while (!Files.exists(existing, LinkOption.NOFOLLOW_LINKS) && existing.getParent() != null) {
            existing = existing.getParent();
        }
        if (!Files.isDirectory(existing)) {
            return existing + " is no folder";
        }
        return Files.isWritable(existing) ? null : existing + " cannot be written";
    }
}
