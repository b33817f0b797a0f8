package io.softdpu.storage.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.SeededRandom;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ControlCodecTest {
    private static final Blob BLOB = Blob.of(new byte[] {(byte) 0xCA, (byte) 0xFE, 1});

    /**
     * Each type once: the frame as docs/wire/storage.md spells it, message_id 1, correlation_id 2.
     */
    static Stream<Arguments> goldenFrames() {
        return Stream.of(
                golden(
                        "0000001700000000" + IDS + "00000006" + "00000003" + "626164",
                        ControlPayload.ErrorResponse.of(Status.INVALID_VALUE, "bad")),
                golden("0000000c00000001" + IDS, new ControlPayload.QueryStorageRequest()),
                golden(
                        "0000001800000002" + IDS + "0000000004000000" + "00001000",
                        new ControlPayload.QueryStorageResponse(64 << 20, 4096)),
                golden(
                        "0000001b00000003" + IDS + "00000040" + "00000001" + "00000003" + "cafe01",
                        new ControlPayload.InitStorageRequest(64, 1, BLOB)),
                golden("0000000c00000004" + IDS, new ControlPayload.InitStorageResponse()),
                golden(
                        "0000001b00000005" + IDS + "00000002" + "00000001" + "00000003" + "cafe01",
                        new ControlPayload.CreateRdmaConnectionRequest(
                                2, RdmaConnectionRole.IO_CONTROL, BLOB)),
                golden(
                        "0000001b00000006" + IDS + "00000002" + "00000000" + "00000003" + "cafe01",
                        new ControlPayload.CreateRdmaConnectionResponse(
                                2, RdmaConnectionRole.IO_DATA, BLOB)),
                golden("0000000c00000007" + IDS, new ControlPayload.StartStorageRequest()),
                golden("0000000c00000008" + IDS, new ControlPayload.StartStorageResponse()),
                golden("0000000c00000009" + IDS, new ControlPayload.StopStorageRequest()),
                golden("0000000c0000000a" + IDS, new ControlPayload.StopStorageResponse()),
                golden("0000000c0000000b" + IDS, new ControlPayload.ShutdownRequest()),
                golden("0000000c0000000c" + IDS, new ControlPayload.ShutdownResponse()),
                golden("0000000c0000000d" + IDS, new ControlPayload.Hello()));
    }

    private static final String IDS = "0000000100000002";

    private static Arguments golden(String frame, ControlPayload payload) {
        return Arguments.of(frame, new ControlMessage(1, 2, payload));
    }

    @ParameterizedTest
    @MethodSource("goldenFrames")
    void shouldEncodeTheGoldenFrame(String frame, ControlMessage message) {
        assertThat(HexFormat.of().formatHex(ControlCodec.encode(message))).isEqualTo(frame);
    }

    @ParameterizedTest
    @MethodSource("goldenFrames")
    void shouldDecodeTheGoldenFrame(String frame, ControlMessage message) {
        assertThat(decode(frame)).isEqualTo(message);
    }

    @ParameterizedTest
    @MethodSource("goldenFrames")
    void shouldRefuseEachFrameThatIsCutOrTooLong(String frame, ControlMessage message) {
        byte[] bytes = HexFormat.of().parseHex(frame);
        for (int length = 4; length < bytes.length; length++) {
            ByteBuffer cut = ByteBuffer.wrap(bytes, 4, length - 4).slice();
            assertThatThrownBy(() -> ControlCodec.decode(cut))
                    .isInstanceOfSatisfying(
                            DpuException.class,
                            e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE));
        }
        assertThatThrownBy(() -> decode(frame + "00"))
                .hasMessageContaining("longer by 1 bytes than its payload")
                .hasMessageContaining(message.type().wireName());
    }

    @Test
    void shouldNameTheFieldThatIsIllegal() {
        assertRefused("00000000" + "0000000e" + IDS, "messageType=14, expected=0 to 13");
        assertRefused("00000000" + "ffffffff" + IDS, "messageType=4294967295");
        assertRefused(
                "00000000" + "00000002" + IDS + "0000000000000000" + "00001000",
                "totalSizeBytes=0, expected=a positive multiple of blockSizeBytes=4096");
        assertRefused(
                "00000000" + "00000002" + IDS + "0000000000001001" + "00001000",
                "totalSizeBytes=4097");
        assertRefused(
                "00000000" + "00000002" + IDS + "8000000000000000" + "00001000",
                "totalSizeBytes=9223372036854775808");
        assertRefused(
                "00000000" + "00000002" + IDS + "0000000000001000" + "00000000",
                "blockSizeBytes=0");
        assertRefused(
                "00000000" + "00000003" + IDS + "00000000" + "00000001" + "00000001" + "00",
                "transactionCount=0");
        assertRefused(
                "00000000" + "00000003" + IDS + "00000001" + "80000000" + "00000001" + "00",
                "coreCount=2147483648");
        assertRefused(
                "00000000" + "00000003" + IDS + "00000001" + "00000001" + "00000000",
                "mmapExport=0 bytes");
        assertRefused(
                "00000000" + "00000003" + IDS + "00000001" + "00000001" + "00000002" + "00",
                "mmapExportLengthBytes=2, expected=at most the 1 bytes");
        assertRefused(
                "00000000" + "00000003" + IDS + "00000001" + "00000001" + "ffffffff" + "00",
                "mmapExportLengthBytes=4294967295");
        assertRefused(
                "00000000" + "00000005" + IDS + "00000000" + "00000002" + "00000001" + "00",
                "role=2, expected=0 (io_data) or 1 (io_control)");
        assertRefused("00000000" + "00000000" + IDS + "00000006" + "00000001" + "ff", "not UTF-8");
    }

    @Test
    void shouldKeepTheNumberOfAnErrorThatNoStatusHas() {
        ControlMessage message = decode("00000014" + "00000000" + IDS + "00001234" + "00000000");

        ControlPayload.ErrorResponse error = (ControlPayload.ErrorResponse) message.payload();
        assertThat(error.errorCode()).isEqualTo(0x1234);
        assertThat(error.status()).isEqualTo(Status.UNKNOWN);
    }

    @Test
    void shouldCutALongReasonBetweenTwoCharacters() {
        String reason = "é".repeat(ControlCodec.MAX_MESSAGE_BYTES);
        byte[] frame =
                ControlCodec.encode(
                        new ControlMessage(
                                0, 0, ControlPayload.ErrorResponse.of(Status.UNKNOWN, reason)));

        ControlMessage message =
                ControlCodec.decode(ByteBuffer.wrap(frame, 4, frame.length - 4).slice());

        assertThat(((ControlPayload.ErrorResponse) message.payload()).message())
                .isEqualTo("é".repeat(ControlCodec.MAX_MESSAGE_BYTES / 2));
    }

    @Test
    void shouldRefuseToEncodeWhatNoReceiverWouldTake() {
        Blob large = Blob.of(new byte[ControlCodec.MAX_WIRE_SIZE]);

        assertThatThrownBy(() ->
                        ControlCodec.encode(
                                new ControlMessage(
                                        0, 0, new ControlPayload.InitStorageRequest(1, 1, large))))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.TOO_BIG))
                .hasMessageContaining("init_storage_request");
    }

    @Test
    void shouldPutMessagesTogetherHoweverTheStreamWasCut(SeededRandom random) {
        List<ControlMessage> sent = new ArrayList<>();
        ByteBuffer stream = ByteBuffer.allocate(1 << 20);
        for (int i = 0; i < 200; i++) {
            byte[] blob = new byte[random.nextInt(1, 300)];
            random.nextBytes(blob);
            ControlMessage message =
                    new ControlMessage(
                            random.nextInt(),
                            random.nextInt(),
                            new ControlPayload.CreateRdmaConnectionRequest(
                                    random.nextInt(64),
                                    RdmaConnectionRole.ofCode(random.nextInt(2)),
                                    Blob.of(blob)));
            sent.add(message);
            stream.put(ControlCodec.encode(message));
        }
        stream.flip();

        FrameAssembler assembler = new FrameAssembler();
        List<ControlMessage> received = new ArrayList<>();
        while (stream.hasRemaining()) {
            int size = Math.min(stream.remaining(), random.nextInt(1, 40));
            ByteBuffer piece = stream.slice(stream.position(), size);
            stream.position(stream.position() + size);
            while (piece.hasRemaining()) {
                ControlMessage message = assembler.feed(piece);
                if (message != null) {
                    received.add(message);
                }
            }
        }

        assertThat(received).isEqualTo(sent);
        assertThat(assembler.isInsideFrame()).isFalse();
    }

    @Test
    void shouldRefuseAWireSizeOutsideTheLimitsBeforeItMakesRoom() {
        for (String size : List.of("00000000", "0000000b", "00010001", "7fffffff", "ffffffff")) {
            FrameAssembler assembler = new FrameAssembler();
            ByteBuffer bytes = ByteBuffer.wrap(HexFormat.of().parseHex(size));

            assertThatThrownBy(() -> assembler.feed(bytes))
                    .hasMessageContaining(
                            "wireSizeBytes="
                                    + Integer.toUnsignedString(Integer.parseUnsignedInt(size, 16)))
                    .hasMessageContaining("expected=12 to 65536");
            assertThatThrownBy(() -> assembler.feed(ByteBuffer.allocate(64)))
                    .hasMessageContaining("broken");
        }
    }

    @Test
    void shouldNotShowABlobInAText() {
        assertThat(new ControlPayload.InitStorageRequest(1, 1, BLOB).toString())
                .contains("3 bytes")
                .doesNotContainIgnoringCase("cafe");
    }

    private static ControlMessage decode(String frame) {
        byte[] bytes = HexFormat.of().parseHex(frame);
        return ControlCodec.decode(ByteBuffer.wrap(bytes, 4, bytes.length - 4).slice());
    }

    private static void assertRefused(String frame, String reason) {
        assertThatThrownBy(() -> decode(frame))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessageContaining(reason);
    }
}
