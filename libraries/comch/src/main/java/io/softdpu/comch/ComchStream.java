package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.check.Arguments;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.DataPathLocation;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.execution.StateChangedCallback;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Stream of messages over the fast path, in both directions: one {@link ComchProducer} and one
 * {@link ComchConsumer} with their memory, buffers and tasks, as one context. Each side of a
 * connection creates one; its client and its server have to {@linkplain
 * ComchEndpoint#acceptStreams() accept streams}.
 *
 * <p>A message is filled in place in a send buffer, copied once into a buffer that the peer's
 * stream has posted, and read there in place: the memory of a buffer is valid for the program until
 * {@link ComchSendBuffer#send} or {@link ComchReceiveBuffer#close()}, and the {@linkplain
 * io.softdpu.core.execution.Sanitizer sanitizer} shows an access after it. A message has from 0
 * bytes to the buffer size, and up to 32 bytes of immediate data beside them. Messages arrive in
 * the order of sending, each exactly once.
 *
 * <pre>{@code
 * // The client, started after acceptStreams(): sends numbers, and sums up the replies.
 * try (ComchStream stream = ComchStream.create(client.connection())) {
 *     stream.setBufferBytes(1 << 20);
 *     engine.start(stream, TIMEOUT);
 *     for (int i = 0; i < 100; i++) {
 *         ComchSendBuffer request = stream.claim(TIMEOUT);
 *         request.segment().set(ValueLayout.JAVA_INT, 0, i);
 *         request.send(Integer.BYTES);
 *         try (ComchReceiveBuffer reply = stream.receive(TIMEOUT)) {
 *             sum += reply.segment().get(ValueLayout.JAVA_INT, 0);
 *         }
 *     }
 * }
 *
 * // The server, with a stream that was started in the same way: replies until the client has
 * // closed its stream.
 * ComchReceiveBuffer request;
 * while ((request = stream.receive(TIMEOUT)) != null) {
 *     ComchSendBuffer reply = stream.claim(TIMEOUT);
 *     reply.segment().set(ValueLayout.JAVA_INT, 0, 2 * request.segment().get(ValueLayout.JAVA_INT, 0));
 *     reply.send(Integer.BYTES);
 *     request.close();
 * }
 * }</pre>
 *
 * <p>A program with several contexts to serve uses {@link #tryClaim()} and {@link #tryReceive()},
 * which do not wait, and a {@linkplain #setReadyCallback ready callback}.
 *
 * <p><b>Backpressure.</b> A stream has a fixed number of send buffers and of receive buffers, and
 * allocates nothing per message. A message that the peer has no buffer for waits in its send buffer
 * and is sent when the peer has posted one; when all send buffers wait, there is none to claim. The
 * peer posts a buffer again when its program has closed the message that it held. So a program that
 * does not receive stops the peer from sending.
 *
 * <p><b>Start.</b> The stream is STARTING until the peer has started its stream, however long that
 * takes: {@link ProgressEngine#start} limits the wait. Both engines have to be progressed.
 *
 * <p><b>End.</b> A stream that is stopped or closed first delivers what was sent, then releases its
 * buffers and those of the peer; the engines of both sides have to be progressed for that. The
 * peer's stream stops by itself then: it delivers what has arrived, and is IDLE without a {@link
 * #failure()}. Messages that were received can be taken until the stream is closed or started
 * again, also when it is IDLE: until then it keeps their memory, and so its device, open. There is
 * no half-closed stream: a program whose peer is to reply after its last message receives the
 * replies before it stops.
 *
 * <p>A stream fails with CONNECTION_RESET if the connection ends before it, also before its start;
 * with SHUTDOWN if the peer has stopped and not taken all messages, or has withdrawn its memory;
 * with INVALID_VALUE if a message is larger than the peer's buffers, and on the peer's side with
 * IO_FAILED after the messages before it: both sides should set the same size. {@link
 * #undeliveredMessages()} tells how many messages were lost.
 *
 * <p><b>Servers.</b> A server of several clients creates and starts a stream in the {@linkplain
 * ComchServer#setConnectedCallback connected callback} of each, and closes it when it is IDLE, as
 * it is after the end of its connection too: inside the {@linkplain #setStateChangedCallback
 * callback} for that. All streams have to be closed before the server, the engine and the device.
 * The exception of a ready callback is thrown by the engine's progress, which ends a server that
 * does not catch it inside the callback. There it can {@link #stop()} the stream of a client that
 * sends nonsense; {@link ComchConnection#disconnect()} is IN_USE until the stream is IDLE.
 *
 * <p><b>Limits.</b> A connection has one stream of each side at a time, and no other producers and
 * consumers beside it: a second one is refused with IN_USE, and a stream whose peer has several
 * consumers does not start, or fails with NOT_SUPPORTED.
 *
 * <p><b>Trust.</b> The receive buffers are memory that the peer has mapped and could write to at
 * any time: a program that does not trust it copies a message before checking it.
 *
 * <p>Thread: that of the stream's engine, which may be another than the connection's.
 */
public sealed interface ComchStream extends Context permits StreamContext {
    /**
     * Creates a stream in IDLE. Any thread. Over a connection that has ended or was refused it ends
     * in the first progress after its start, with the failure of the connection, as one whose
     * connection ends later does.
     *
     * @param connection a connection whose client or server accepts streams
     * @throws DpuException BAD_STATE if the client or server does not accept streams; NOT_SUPPORTED
     *     if the connection's device does not support producers or consumers
     */
    static ComchStream create(ComchConnection connection) {
        Arguments.notNull(connection, "connection");
        connection.context().capabilities().requireProducers();
        connection.context().capabilities().requireConsumers();
        return new StreamContext(connection, connection.requireStreams());
    }

    /**
     * Sets the size of each buffer in bytes, which is the largest message; 64 KiB by default, or
     * the device's maximum if that is less.
     *
     * @throws DpuException INVALID_VALUE if it is not 1 to the device's maximum; BAD_STATE if the
     *     stream is not IDLE
     */
    ComchStream setBufferBytes(long sizeBytes);

    /** The size of each buffer in bytes. */
    long bufferBytes();

    /**
     * Sets the number of messages that can be filled or under way at a time, and sent between two
     * passes of progress; 16 by default. Each takes a buffer of this program's memory while the
     * stream exists.
     *
     * @param count 1 to the device's maximum
     * @throws DpuException INVALID_VALUE if the count is out of range; BAD_STATE if the stream is
     *     not IDLE
     */
    ComchStream setSendBuffers(int count);

    /** The number of send buffers. */
    int sendBuffers();

    /**
     * Sets the number of messages of the peer that can have arrived and not been closed; 16 by
     * default. Each takes a buffer of shared memory, which is limited by {@code /dev/shm} or the
     * container, while the stream exists.
     *
     * @param count 1 to the device's maximum
     * @throws DpuException INVALID_VALUE if the count is out of range; BAD_STATE if the stream is
     *     not IDLE
     */
    ComchStream setReceiveBuffers(int count);

    /** The number of receive buffers. */
    int receiveBuffers();

    /**
     * Sets the callback for messages and free buffers; null for none. The end of the stream is a
     * {@linkplain #setStateChangedCallback change of state}.
     *
     * @throws DpuException BAD_STATE if the stream is not IDLE
     */
    ComchStream setReadyCallback(@Nullable ComchStreamCallback callback);

    /** The connection. Any thread. */
    ComchConnection connection();

    /**
     * Takes a free send buffer, to fill and send it.
     *
     * @return null if there is none: a ready callback is called when there is; or if the stream is
     *     not RUNNING
     */
    @Nullable ComchSendBuffer tryClaim();

    /**
     * Takes a free send buffer, and progresses the engine until there is one. Not inside callbacks.
     *
     * @param timeout limit of the wait
     * @throws DpuException the failure of the stream, with its status, and itself as the cause;
     *     SHUTDOWN if the stream has ended without one; BAD_STATE if it was not started; TIME_OUT;
     *     INVALID_VALUE if the timeout is negative
     */
    ComchSendBuffer claim(Duration timeout);

    /**
     * Takes the next message that has arrived.
     *
     * @return its buffer, to be closed after use; null if there is none
     */
    @Nullable ComchReceiveBuffer tryReceive();

    /**
     * Takes the next message, and progresses the engine until there is one. Not inside callbacks.
     *
     * @param timeout limit of the wait
     * @return its buffer, to be closed after use; null if all messages have been taken and the
     *     stream is IDLE without a failure, since the peer or this program has stopped it
     * @throws DpuException the failure of the stream after the last message, with its status, and
     *     itself as the cause; BAD_STATE if it was not started; TIME_OUT; INVALID_VALUE if the
     *     timeout is negative
     */
    @Nullable ComchReceiveBuffer receive(Duration timeout);

    /**
     * Number of messages that were sent since the start and have not reached the peer, since the
     * stream failed or the peer did not take them in time. 0 while it is RUNNING, and final once it
     * is IDLE. A message has reached the peer when it is in a buffer that the peer has posted,
     * whether or not its program receives it: a program that has to know awaits a reply.
     */
    long undeliveredMessages();

    @Override
    ComchStream setStateChangedCallback(@Nullable StateChangedCallback callback);

    @Override
    ComchStream setDataPathLocation(DataPathLocation location);

    @Override
    ComchStream setUserData(long userData);

    @Override
    ComchStream setUserObject(@Nullable Object userObject);
}
