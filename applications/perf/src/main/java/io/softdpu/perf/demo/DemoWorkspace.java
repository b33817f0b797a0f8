package io.softdpu.perf.demo;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.perf.child.SharedFolder;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The folder of one demo: the fabric folder of its processes and the reports they leave. No other
 * user has access. It is removed at the end of the demo; after one that was killed, when the last
 * of its processes has noticed, or at the latest when the next demo begins. Any thread.
 */
final class DemoWorkspace implements AutoCloseable {
    private static final String PREFIX = "softdpu-demo-";
    private static final String FABRIC = "fabric";

    private final SharedFolder folder;

    private DemoWorkspace(SharedFolder folder) {
        this.folder = folder;
    }

    /**
     * Makes the folder below the system's folder for temporary files, and removes those there of
     * demos that were killed with all their processes.
     *
     * @throws DpuException OPERATING_SYSTEM
     */
    static DemoWorkspace create() {
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        SharedFolder.sweep(parent, PREFIX);
        SharedFolder made = null;
        try {
            made = SharedFolder.create(parent, PREFIX);
            made.makeFolder(FABRIC);
            return new DemoWorkspace(made);
        } catch (IOException e) {
            if (made != null) {
                made.remove();
            }
            throw new DpuException(
                    Status.OPERATING_SYSTEM,
                    "folder for the demo cannot be created: parent=" + parent + ", reason=" + e,
                    e);
        }
    }

    Path root() {
        return folder.root();
    }

    Path fabric() {
        return root().resolve(FABRIC);
    }

    Path report(String child) {
        return root().resolve(child + ".json");
    }

    /**
     * Removes the folder with all that is in it. Idempotent.
     *
     * @throws DpuException OPERATING_SYSTEM if something stays
     */
    @Override
    public void close() {
        folder.remove();
    }
}
