package io.softdpu.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.Blob;
import io.softdpu.storage.wire.ControlCodec;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.FrameAssembler;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.StartsProcesses;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The control messages of the storage pipeline, as a stream and one by one. */
@StartsProcesses
class ControlMessageFuzzTest {

    /** The same messages, and then the same refusal, however the stream was cut. */
    @FuzzTest
    void bytes(byte[] stream) {
        List<Object> atOnce = messages(stream, Integer.MAX_VALUE);
        List<Object> inPieces = messages(stream, 1 + stream.length % 7);
        if (!atOnce.equals(inPieces)) {
            throw new AssertionError("cut matters: whole=" + atOnce + ", pieces=" + inPieces);
        }
        ByteArrayOutputStream again = new ByteArrayOutputStream();
        for (Object message : atOnce) {
            if (message instanceof ControlMessage control) {
                again.writeBytes(encode(control));
            }
        }
        byte[] taken = again.toByteArray();
        Refused.requireSame("stream", Arrays.copyOf(stream, taken.length), taken);
    }

    /** An error's reason is cut where it is too long to be sent; all else has one form. */
    private static byte[] encode(ControlMessage message) {
        byte[] bytes = ControlCodec.encode(message);
        if (message.payload() instanceof ControlPayload.ErrorResponse error
                && error.message().length() > ControlCodec.MAX_MESSAGE_BYTES / 3) {
            byte[] text = error.message().getBytes(java.nio.charset.StandardCharsets.UTF_8);
            ByteBuffer whole = ByteBuffer.allocate(24 + text.length);
            whole.putInt(20 + text.length).put(bytes, 4, 16).putInt(text.length).put(text);
            return whole.array();
        }
        return bytes;
    }

    /** What an assembler makes of the stream: messages, and at the end why it is broken. */
    private static List<Object> messages(byte[] stream, int pieceBytes) {
        FrameAssembler assembler = new FrameAssembler();
        List<Object> messages = new ArrayList<>();
        for (int at = 0; at < stream.length; ) {
            int length = Math.min(pieceBytes, stream.length - at);
            ByteBuffer piece = ByteBuffer.wrap(stream, at, length);
            at += length;
            while (piece.hasRemaining()) {
                int before = piece.remaining();
                try {
                    ControlMessage message = assembler.feed(piece);
                    if (message != null) {
                        messages.add(message);
                    }
                } catch (DpuException e) {
                    requireBroken(assembler, e);
                    messages.add(e.getMessage());
                    return messages;
                }
                if (piece.remaining() == before) {
                    throw new AssertionError("no progress: remaining=" + before);
                }
            }
        }
        return messages;
    }

    private static void requireBroken(FrameAssembler assembler, DpuException reason) {
        if (reason.status() != Status.INVALID_VALUE) {
            throw new AssertionError("refused with another status", reason);
        }
        try {
            assembler.feed(ByteBuffer.allocate(64));
        } catch (DpuException e) {
            if (e.status() == Status.BAD_STATE) {
                return;
            }
        }
        throw new AssertionError("a stream without a beginning was read on", reason);
    }

    @FuzzTest
    void fields(FuzzedDataProvider data) {
        ControlMessage message;
        byte[] frame;
        try {
            message = new ControlMessage(data.consumeInt(), data.consumeInt(), payload(data));
            frame = ControlCodec.encode(message);
        } catch (DpuException e) {
            return; // a value that cannot be
        }
        ControlMessage came = ControlCodec.decode(ByteBuffer.wrap(frame, 4, frame.length - 4));
        if (came.payload() instanceof ControlPayload.ErrorResponse error) {
            // What UTF-8 has no form for was replaced, and a long reason was cut.
            Refused.requireSame("error", frame, ControlCodec.encode(came));
            if (error.errorCode()
                    != ((ControlPayload.ErrorResponse) message.payload()).errorCode()) {
                throw new AssertionError("error code changed: sent=" + message);
            }
        } else if (!came.equals(message)) {
            throw new AssertionError("came back as another: sent=" + message + ", came=" + came);
        }
    }

    private static ControlPayload payload(FuzzedDataProvider data) {
        return switch (data.consumeInt(0, 13)) {
            case 0 ->
                    new ControlPayload.ErrorResponse(
                            data.consumeInt(), data.consumeRemainingAsString());
            case 1 -> new ControlPayload.QueryStorageRequest();
            case 2 ->
                    new ControlPayload.QueryStorageResponse(data.consumeLong(), data.consumeInt());
            case 3 ->
                    new ControlPayload.InitStorageRequest(
                            data.consumeInt(), data.consumeInt(), blob(data));
            case 4 -> new ControlPayload.InitStorageResponse();
            case 5 ->
                    new ControlPayload.CreateRdmaConnectionRequest(
                            data.consumeInt(),
                            data.pickValue(RdmaConnectionRole.values()),
                            blob(data));
            case 6 ->
                    new ControlPayload.CreateRdmaConnectionResponse(
                            data.consumeInt(),
                            data.pickValue(RdmaConnectionRole.values()),
                            blob(data));
            case 7 -> new ControlPayload.StartStorageRequest();
            case 8 -> new ControlPayload.StartStorageResponse();
            case 9 -> new ControlPayload.StopStorageRequest();
            case 10 -> new ControlPayload.StopStorageResponse();
            case 11 -> new ControlPayload.ShutdownRequest();
            case 12 -> new ControlPayload.ShutdownResponse();
            default -> new ControlPayload.Hello();
        };
    }

    private static Blob blob(FuzzedDataProvider data) {
        return Blob.of(data.consumeRemainingAsBytes());
    }
}
