package io.softdpu.storage.control;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/** A door whose system has no descriptor for the next clients. */
final class ShortOfDescriptors extends TcpDoor {
    private int failures;

    ShortOfDescriptors(Selector selector) throws IOException {
        super(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), selector);
    }

    /** How many accepts are to fail from now on. */
    void failures(int count) {
        failures = count;
    }

    @Override
    SocketChannel accept() throws IOException {
        if (failures > 0) {
            failures--;
            throw new IOException("Too many open files");
        }
        return super.accept();
    }
}
