package io.softdpu.storage.control;

import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.testkit.Patience;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** One end of a channel on a thread of its own, as the thread rule of channels demands. */
public final class ChannelEnd implements AutoCloseable {
    /** Any port of this machine. */
    public static final InetSocketAddress ANY_PORT =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private final ExecutorService thread;
    private final Runnable afterClose;
    public final ControlChannel channel;

    /** A channel that waits in an engine of its own. */
    public ChannelEnd(String name, Function<ProgressEngine, ? extends ControlChannel> maker) {
        this(name, maker, new ProgressEngine[1]);
    }

    private ChannelEnd(
            String name,
            Function<ProgressEngine, ? extends ControlChannel> maker,
            ProgressEngine[] engine) {
        this(
                name,
                () -> {
                    engine[0] = ProgressEngine.create();
                    return maker.apply(engine[0]);
                },
                () -> engine[0].close());
    }

    /** The listening end of a TCP channel at any port of this machine. */
    public static ChannelEnd tcpServer(String name) {
        return tcpServer(name, Patience.LIMIT);
    }

    /** The same, with a timeout for a client's first message. */
    public static ChannelEnd tcpServer(String name, Duration firstMessageTimeout) {
        return tcpServer(name, ANY_PORT, firstMessageTimeout);
    }

    /** The listening end of a TCP channel at this address. */
    public static ChannelEnd tcpServer(String name, InetSocketAddress address) {
        return tcpServer(name, address, Patience.LIMIT);
    }

    private static ChannelEnd tcpServer(
            String name, InetSocketAddress address, Duration firstMessageTimeout) {
        return new ChannelEnd(
                name,
                engine ->
                        ControlChannels.makeTcpServer(
                                engine, TcpListener.open(address), firstMessageTimeout));
    }

    /** The connecting end of a TCP channel. */
    public static ChannelEnd tcpClient(String name, InetSocketAddress server) {
        return new ChannelEnd(name, engine -> ControlChannels.makeTcpClient(engine, server));
    }

    /** Address that a TCP server listens on. */
    public InetSocketAddress address() {
        return ((TcpServerControlChannel) channel).address();
    }

    /** Makes the channel on the new thread. */
    public ChannelEnd(String name, Supplier<? extends ControlChannel> maker, Runnable afterClose) {
        this.thread = Executors.newSingleThreadExecutor(r -> new Thread(r, "end-" + name));
        this.afterClose = afterClose;
        this.channel = await(CompletableFuture.supplyAsync(maker, thread));
    }

    public <T> CompletableFuture<T> begin(Function<ControlChannel, T> action) {
        return CompletableFuture.supplyAsync(() -> action.apply(channel), thread);
    }

    public CompletableFuture<Void> beginDo(Consumer<ControlChannel> action) {
        return CompletableFuture.runAsync(() -> action.accept(channel), thread);
    }

    public <T> T call(Function<ControlChannel, T> action) {
        return await(begin(action));
    }

    /** Sends a message, and wakes a peer that sleeps. */
    public void send(ControlMessage message) {
        run(c -> {
            c.send(message);
            c.progress();
        });
    }

    public void run(Consumer<ControlChannel> action) {
        await(beginDo(action));
    }

    /** The result; throws the action's exception unwrapped. */
    public static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no end in time", e);
        }
    }

    @Override
    public void close() {
        run(open -> {
            open.close();
            afterClose.run();
        });
        thread.shutdown();
    }
}
