package io.softdpu.storage.control;

import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;

/** A listener whose system has no descriptor for the next clients. */
final class ShortOfDescriptors extends TcpListener {
    private int failures;

    ShortOfDescriptors() {
        super(End.ANY_PORT);
    }

    /** How many accepts are to fail from now on. */
    void failures(int count) {
        failures = count;
    }

    @Override
    int accept() {
        if (failures > 0) {
            failures--;
            throw new LinuxException("accept4", Errno.EMFILE, "fd=none");
        }
        return super.accept();
    }
}
