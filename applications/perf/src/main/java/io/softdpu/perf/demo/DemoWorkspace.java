package io.softdpu.perf.demo;

import io.softdpu.core.process.SharedFolder;
import java.nio.file.Path;

/**
 * The folder of one demo: the fabric folder of its processes and the reports they leave. No other
 * user has access. It is removed at the end of the demo; after one that was killed, when the last
 * of its processes has noticed, or at the latest when the next demo begins. Any thread.
 */
final class DemoWorkspace implements AutoCloseable {
    private static final String PREFIX = "softdpu-demo-";

    private final SharedFolder folder;

    private DemoWorkspace(SharedFolder folder) {
        this.folder = folder;
    }

    /**
     * Makes the folder, and removes those of demos that were killed with all their processes.
     *
     * @throws io.softdpu.core.DpuException OPERATING_SYSTEM
     */
    static DemoWorkspace create() {
        return new DemoWorkspace(SharedFolder.create(PREFIX));
    }

    Path root() {
        return folder.root();
    }

    Path fabric() {
        return folder.fabric();
    }

    Path report(String child) {
        return root().resolve(child + ".json");
    }

    /**
     * Removes the folder with all that is in it. Idempotent.
     *
     * @throws io.softdpu.core.DpuException OPERATING_SYSTEM if something stays
     */
    @Override
    public void close() {
        folder.close();
    }
}
