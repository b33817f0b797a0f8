package io.softdpu.cli.doctor;

import io.softdpu.fabric.folder.FolderReport;
import io.softdpu.linux.text.GivenText;
import io.softdpu.linux.text.Reason;
import io.softdpu.linux.text.Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Checks of the folders that softdpu uses. */
final class FolderChecks {
    private FolderChecks() {}

    static Finding fabric(FolderReport report) {
        String detail =
                report.exists()
                        ? Text.format(
                                "path=%s, owner=%d, mode=0%o",
                                report.path(), report.uid(), report.mode())
                        : Text.format(
                                "path=%s, exists=no, since no process has used it", report.path());
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
     * The folder for temporary files, in which the demo and perf make theirs: makes a folder there
     * with a locked file, writes, and removes both.
     */
    static Finding temporary(Path folder) {
        String detail = "path=" + folder;
        try {
            TrialFolder.in(folder).close();
            return Finding.ok("temporary folder", detail);
        } catch (IOException | RuntimeException e) {
            return Finding.error(
                    "temporary folder",
                    detail + ", reason=" + Reason.of(e),
                    "free space there, or name another folder: -Djava.io.tmpdir=FOLDER in"
                            + " SOFTDPU_JAVA_OPTS");
        }
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
        String detail = "folder=" + named;
        Path path;
        try {
            path = GivenText.path("variable=SOFTDPU_CACHE", named, IllegalArgumentException::new);
        } catch (IllegalArgumentException e) {
            return Finding.warning(
                    "launcher cache",
                    Reason.of(e),
                    "set SOFTDPU_CACHE to the absolute path of a folder, in a locale with UTF-8");
        }
        boolean usable =
                path.isAbsolute()
                        && (!Files.exists(path)
                                || (Files.isDirectory(path) && Files.isWritable(path)));
        return usable
                ? Finding.ok("launcher cache", detail)
                : Finding.warning(
                        "launcher cache",
                        detail,
                        "set SOFTDPU_CACHE to the absolute path of a folder that you may write to");
    }
}
