package io.softdpu.storage.wire;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Encoder and decoder of control messages. The format is the same over TCP and over Comch; all
 * numbers are big-endian.
 *
 * <pre>
 *   0          4             8            12               16
 *   +----------+-------------+------------+----------------+-----------+
 *   | wire_size| message_type| message_id | correlation_id | payload … |
 *   +----------+-------------+------------+----------------+-----------+
 *              |&lt;------------------- wire_size bytes ---------------&gt;|
 * </pre>
 *
 * <p>A string or a blob is a u32 length and that many bytes; a string is UTF-8.
 */
public final class ControlCodec {
    /** Size of the field wire_size, which does not count itself, in bytes. */
    public static final int WIRE_SIZE_BYTES = 4;

    /** Bytes that wire_size counts before the payload. */
    public static final int HEADER_BYTES = 12;

    /** The largest legal wire_size; a larger one ends the connection. */
    public static final int MAX_WIRE_SIZE = 64 << 10;

    /** The longest message of an error_response in bytes; a longer one is cut before it is sent. */
    public static final int MAX_MESSAGE_BYTES = 16 << 10;

    private ControlCodec() {}

    /**
     * Encodes a frame, wire_size included.
     *
     * @throws DpuException TOO_BIG if the frame exceeds {@link #MAX_WIRE_SIZE}
     */
    public static byte[] encode(ControlMessage message) {
        byte[] text =
                message.payload() instanceof ControlPayload.ErrorResponse error
                        ? cut(error.message())
                        : new byte[0];
        int wireSize = HEADER_BYTES + payloadBytes(message.payload(), text);
        if (wireSize > MAX_WIRE_SIZE) {
            throw new DpuException(
                    Status.TOO_BIG,
                    "control message is too large: type="
                            + message.type().wireName()
                            + ", wireSizeBytes="
                            + wireSize
                            + ", limit="
                            + MAX_WIRE_SIZE);
        }
        ByteBuffer out = ByteBuffer.allocate(WIRE_SIZE_BYTES + wireSize);
        out.putInt(wireSize)
                .putInt(message.type().code())
                .putInt(message.messageId())
                .putInt(message.correlationId());
        putPayload(out, message.payload(), text);
        return out.array();
    }

    /**
     * Decodes a frame without its field wire_size.
     *
     * @param frame the bytes that wire_size counts; read to the end
     * @throws DpuException INVALID_VALUE, naming the field, its value and the expected value
     */
    public static ControlMessage decode(ByteBuffer frame) {
        if (frame.remaining() < HEADER_BYTES) {
            throw invalid(
                    "wireSizeBytes",
                    Integer.toString(frame.remaining()),
                    "at least " + HEADER_BYTES);
        }
        ControlMessageType type = ControlMessageType.ofCode(frame.getInt());
        int messageId = frame.getInt();
        int correlationId = frame.getInt();
        ControlPayload payload = payload(type, frame);
        if (frame.hasRemaining()) {
            throw invalid(
                    "wireSizeBytes",
                    "longer by " + frame.remaining() + " bytes than its payload",
                    "the size of a " + type.wireName());
        }
        return new ControlMessage(messageId, correlationId, payload);
    }

    private static int payloadBytes(ControlPayload payload, byte[] text) {
        return switch (payload) {
            case ControlPayload.ErrorResponse _ -> 8 + text.length;
            case ControlPayload.QueryStorageResponse _ -> 12;
            case ControlPayload.InitStorageRequest init -> 12 + init.mmapExport().sizeBytes();
            case ControlPayload.CreateRdmaConnectionRequest create ->
                    12 + create.connectionDetails().sizeBytes();
            case ControlPayload.CreateRdmaConnectionResponse created ->
                    12 + created.connectionDetails().sizeBytes();
            case ControlPayload.QueryStorageRequest _,
                    ControlPayload.InitStorageResponse _,
                    ControlPayload.StartStorageRequest _,
                    ControlPayload.StartStorageResponse _,
                    ControlPayload.StopStorageRequest _,
                    ControlPayload.StopStorageResponse _,
                    ControlPayload.ShutdownRequest _,
                    ControlPayload.ShutdownResponse _,
                    ControlPayload.Hello _ ->
                    0;
        };
    }

    private static void putPayload(ByteBuffer out, ControlPayload payload, byte[] text) {
        switch (payload) {
            case ControlPayload.ErrorResponse error ->
                    out.putInt(error.errorCode()).putInt(text.length).put(text);
            case ControlPayload.QueryStorageResponse query ->
                    out.putLong(query.totalSizeBytes()).putInt(query.blockSizeBytes());
            case ControlPayload.InitStorageRequest init -> {
                out.putInt(init.transactionCount()).putInt(init.coreCount());
                putBlob(out, init.mmapExport());
            }
            case ControlPayload.CreateRdmaConnectionRequest create -> {
                out.putInt(create.contextIndex()).putInt(create.role().code());
                putBlob(out, create.connectionDetails());
            }
            case ControlPayload.CreateRdmaConnectionResponse created -> {
                out.putInt(created.contextIndex()).putInt(created.role().code());
                putBlob(out, created.connectionDetails());
            }
            case ControlPayload.QueryStorageRequest _,
                    ControlPayload.InitStorageResponse _,
                    ControlPayload.StartStorageRequest _,
                    ControlPayload.StartStorageResponse _,
                    ControlPayload.StopStorageRequest _,
                    ControlPayload.StopStorageResponse _,
                    ControlPayload.ShutdownRequest _,
                    ControlPayload.ShutdownResponse _,
                    ControlPayload.Hello _ -> {
                // No payload.
            }
        }
    }

    private static void putBlob(ByteBuffer out, Blob blob) {
        out.putInt(blob.sizeBytes()).put(blob.bytes());
    }

    private static ControlPayload payload(ControlMessageType type, ByteBuffer in) {
        return switch (type) {
            case ERROR_RESPONSE ->
                    new ControlPayload.ErrorResponse(u32(in, "errorCode"), string(in, "message"));
            case QUERY_STORAGE_REQUEST -> new ControlPayload.QueryStorageRequest();
            case QUERY_STORAGE_RESPONSE ->
                    new ControlPayload.QueryStorageResponse(
                            u64(in, "totalSizeBytes"), u32(in, "blockSizeBytes"));
            case INIT_STORAGE_REQUEST ->
                    new ControlPayload.InitStorageRequest(
                            u32(in, "transactionCount"),
                            u32(in, "coreCount"),
                            blob(in, "mmapExport"));
            case INIT_STORAGE_RESPONSE -> new ControlPayload.InitStorageResponse();
            case CREATE_RDMA_CONNECTION_REQUEST ->
                    new ControlPayload.CreateRdmaConnectionRequest(
                            u32(in, "contextIndex"),
                            RdmaConnectionRole.ofCode(u32(in, "role")),
                            blob(in, "connectionDetails"));
            case CREATE_RDMA_CONNECTION_RESPONSE ->
                    new ControlPayload.CreateRdmaConnectionResponse(
                            u32(in, "contextIndex"),
                            RdmaConnectionRole.ofCode(u32(in, "role")),
                            blob(in, "connectionDetails"));
            case START_STORAGE_REQUEST -> new ControlPayload.StartStorageRequest();
            case START_STORAGE_RESPONSE -> new ControlPayload.StartStorageResponse();
            case STOP_STORAGE_REQUEST -> new ControlPayload.StopStorageRequest();
            case STOP_STORAGE_RESPONSE -> new ControlPayload.StopStorageResponse();
            case SHUTDOWN_REQUEST -> new ControlPayload.ShutdownRequest();
            case SHUTDOWN_RESPONSE -> new ControlPayload.ShutdownResponse();
            case HELLO -> new ControlPayload.Hello();
        };
    }

    private static int u32(ByteBuffer in, String field) {
        requireRemaining(in, field, Integer.BYTES);
        return in.getInt();
    }

    private static long u64(ByteBuffer in, String field) {
        requireRemaining(in, field, Long.BYTES);
        return in.getLong();
    }

    private static byte[] bytes(ByteBuffer in, String field) {
        int length = u32(in, field + "LengthBytes");
        if (length < 0 || length > in.remaining()) {
            throw invalid(
                    field + "LengthBytes",
                    Integer.toUnsignedString(length),
                    "at most the " + in.remaining() + " bytes left in the frame");
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    private static Blob blob(ByteBuffer in, String field) {
        return Blob.of(bytes(in, field));
    }

    private static String string(ByteBuffer in, String field) {
        byte[] bytes = bytes(in, field);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    field
                            + " is illegal: "
                            + field
                            + "="
                            + bytes.length
                            + " bytes that are not UTF-8, expected=UTF-8",
                    e);
        }
    }

    private static void requireRemaining(ByteBuffer in, String field, int needed) {
        if (in.remaining() < needed) {
            throw invalid(field, "cut off after " + in.remaining() + " bytes", needed + " bytes");
        }
    }

    /** The message in UTF-8, cut at a character boundary to {@link #MAX_MESSAGE_BYTES}. */
    private static byte[] cut(String message) {
        byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
        if (bytes.length <= MAX_MESSAGE_BYTES) {
            return bytes;
        }
        int end = MAX_MESSAGE_BYTES;
        while (end > 0 && (bytes[end] & 0xC0) == 0x80) {
            end--;
        }
        byte[] head = new byte[end];
        System.arraycopy(bytes, 0, head, 0, end);
        return head;
    }

    private static DpuException invalid(String field, String found, String expected) {
        return new DpuException(
                Status.INVALID_VALUE,
                "field of a control message is illegal: "
                        + field
                        + "="
                        + found
                        + ", expected="
                        + expected);
    }
}
