package io.softdpu.storage.control;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * A daemon thread that tells when a socket has something to read, and reads nothing itself.
 *
 * <p>It exists for the service, whose control thread has to hear a socket and a progress engine at
 * once and can wait in one of them only. After each call of the hook it stays quiet until {@link
 * #rearm}, so bytes that nobody has read yet do not make it spin.
 */
final class TcpWatch implements AutoCloseable {
    private final Selector selector;
    private final SelectionKey key;
    private final Runnable hook;
    private final Thread thread;
    private volatile boolean quiet;

    private TcpWatch(Selector selector, SelectionKey key, Runnable hook) {
        this.selector = selector;
        this.key = key;
        this.hook = hook;
        this.thread =
                Thread.ofPlatform().daemon().name("softdpu-storage-watch").unstarted(this::run);
    }

    static TcpWatch start(SocketChannel socket, Runnable hook) {
        Selector selector = null;
        try {
            selector = Selector.open();
            TcpWatch watch =
                    new TcpWatch(selector, socket.register(selector, SelectionKey.OP_READ), hook);
            watch.thread.start();
            return watch;
        } catch (IOException | OutOfMemoryError e) { // the latter: no room for another thread
            TcpControlChannel.closeQuietly(selector);
            throw new DpuException(
                    Status.OPERATING_SYSTEM, "socket cannot be watched: reason=" + e, e);
        }
    }

    /** To be called before the owner reads: whatever comes from now on is told again. */
    void rearm() {
        if (quiet && key.isValid()) {
            quiet = false;
            key.interestOps(SelectionKey.OP_READ);
            selector.wakeup();
        }
    }

    @Override
    public void close() throws IOException {
        selector.close();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            while (selector.isOpen()) {
                selector.select();
                boolean ready = selector.selectedKeys().remove(key);
                if (ready && key.isValid()) {
                    key.interestOps(0);
                    quiet = true;
                    hook.run();
                }
            }
        } catch (ClosedSelectorException | CancelledKeyException _) {
            // The channel was closed: that is how this thread ends.
        } catch (IOException e) {
            System.getLogger(TcpWatch.class.getName())
                    .log(System.Logger.Level.WARNING, "watching a socket failed", e);
            hook.run();
        }
    }
}
