package io.softdpu.storage;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.Deadline;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.storage.control.ChannelEnd;
import io.softdpu.storage.control.ControlChannel;
import io.softdpu.storage.control.ControlChannels;
import io.softdpu.storage.control.TcpClientControlChannel;
import io.softdpu.storage.control.TcpListener;
import io.softdpu.storage.control.TcpServerControlChannel;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.testkit.Patience;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;

/**
 * Proxy between a service and its target, which records each control message and changes them as a
 * test specifies. Runs on one thread; ends when one of the two disconnects.
 */
final class ControlProxy implements AutoCloseable {
    private static final Duration LOOK = Duration.ofMillis(1);

    private final TcpListener listener = TcpListener.open(ChannelEnd.ANY_PORT);
    private final int targetPort;
    private final Change changeRequest;
    private final Change changeAnswer;
    private final List<ControlMessage> seen = Collections.synchronizedList(new ArrayList<>());
    private final CompletableFuture<ControlChannel> open = new CompletableFuture<>();
    private final Thread thread;

    /** Replacement of a message. */
    interface Change {
        /**
         * @param exchange number of requests before that of this message
         */
        List<ControlMessage> apply(int exchange, ControlMessage message);
    }

    ControlProxy(int targetPort, UnaryOperator<ControlMessage> change) {
        this(
                targetPort,
                (_, request) -> List.of(request),
                (_, answer) -> List.of(change.apply(answer)));
    }

    ControlProxy(int targetPort, Change changeRequest, Change changeAnswer) {
        this.changeRequest = changeRequest;
        this.changeAnswer = changeAnswer;
        this.targetPort = targetPort;
        this.thread = new Thread(this::run, "control-proxy");
        thread.start();
    }

    int port() {
        return listener.address().getPort();
    }

    /** The messages in order; the target's replies before they were changed. */
    List<ControlMessage> seen() {
        return List.copyOf(seen);
    }

    @Override
    public void close() {
        open.join().abort("test ends");
        Pipeline.join(thread);
    }

    private void run() {
        try (ProgressEngine engine = ProgressEngine.create();
                TcpServerControlChannel fromService =
                        ControlChannels.makeTcpServer(engine, listener, Patience.LIMIT);
                TcpClientControlChannel toTarget =
                        ControlChannels.makeTcpClient(
                                engine,
                                new InetSocketAddress(
                                        InetAddress.getLoopbackAddress(), targetPort))) {
            open.complete(fromService);
            fromService.awaitConnected(Deadline.NO_LIMIT);
            toTarget.awaitConnected(Patience.LIMIT);
            int exchange = -1;
            while (true) {
                ControlMessage request = fromService.poll();
                if (request != null) {
                    exchange++;
                    seen.add(request);
                    changeRequest.apply(exchange, request).forEach(toTarget::send);
                }
                ControlMessage answer = toTarget.poll();
                if (answer != null) {
                    seen.add(answer);
                    changeAnswer.apply(exchange, answer).forEach(fromService::send);
                    fromService.flush(Patience.LIMIT);
                }
                fromService.await(LOOK);
            }
        } catch (DpuException e) {
            // One of the two has gone, or the test is over: closing tells the other.
            open.completeExceptionally(e); // unless it was made
        }
    }
}
