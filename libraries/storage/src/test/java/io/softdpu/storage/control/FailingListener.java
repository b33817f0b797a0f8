package io.softdpu.storage.control;

import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;

/** Listener that fails to accept the next clients, as if no descriptor were free. */
final class FailingListener extends TcpListener {
    private int failures;

    FailingListener() {
        super(ChannelEnd.ANY_PORT);
    }

    /** Sets the number of accepts that fail from now on. */
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
