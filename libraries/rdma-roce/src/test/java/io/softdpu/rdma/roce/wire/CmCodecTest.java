package io.softdpu.rdma.roce.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class CmCodecTest {
    private static final int DATA = 24;

    private static CmMessage decode(byte[] bytes) {
        return CmCodec.decode(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    private static CmMessage.Path path(SeededRandom random) {
        return new CmMessage.Path(
                random.nextInt(1 << 16),
                random.nextInt(1 << 16),
                random.bytes(16),
                random.bytes(16),
                random.nextInt(1 << 20),
                random.nextInt(1 << 6),
                random.nextInt(1 << 8),
                random.nextInt(1 << 8),
                random.nextInt(1 << 4),
                random.nextBoolean(),
                random.nextInt(1 << 5));
    }

    private static CmMessage.Req req(SeededRandom random) {
        return new CmMessage.Req(
                random.nextLong(),
                random.nextInt(),
                random.nextLong(),
                random.nextLong(),
                random.nextInt(),
                random.nextInt(1 << 24),
                random.nextInt(1 << 8),
                random.nextInt(1 << 8),
                random.nextInt(1 << 5),
                random.nextBoolean(),
                random.nextInt(1 << 24),
                random.nextInt(1 << 5),
                random.nextInt(1 << 3),
                random.nextInt(1 << 16),
                random.nextInt(1, 6),
                random.nextInt(1 << 3),
                random.nextInt(1 << 4),
                random.nextBoolean(),
                path(random),
                random.bytes(92));
    }

    private static CmMessage.Rep rep(SeededRandom random) {
        return new CmMessage.Rep(
                random.nextLong(),
                random.nextInt(),
                random.nextInt(),
                random.nextInt(),
                random.nextInt(1 << 24),
                random.nextInt(1 << 24),
                random.nextInt(1 << 8),
                random.nextInt(1 << 8),
                random.nextInt(1 << 5),
                random.nextInt(1 << 2),
                random.nextBoolean(),
                random.nextInt(1 << 3),
                random.nextBoolean(),
                random.nextLong(),
                random.bytes(196));
    }

    private static CmMessage.Rej rej(SeededRandom random) {
        return new CmMessage.Rej(
                random.nextLong(),
                random.nextInt(),
                random.nextInt(),
                random.oneOf(CmMessage.About.values()),
                random.nextInt(1 << 16),
                random.bytes(random.nextInt(73)),
                random.bytes(148));
    }

    private static CmMessage.Mra mra(SeededRandom random) {
        return new CmMessage.Mra(
                random.nextLong(),
                random.nextInt(),
                random.nextInt(),
                random.oneOf(CmMessage.About.values()),
                random.nextInt(1 << 5),
                random.bytes(222));
    }

    private static CmMessage message(CmAttribute attribute, SeededRandom random) {
        long transaction = random.nextLong();
        int local = random.nextInt();
        int remote = random.nextInt();
        return switch (attribute) {
            case REQ -> req(random);
            case REP -> rep(random);
            case REJ -> rej(random);
            case MRA -> mra(random);
            case RTU -> new CmMessage.Rtu(transaction, local, remote, random.bytes(224));
            case DREP -> new CmMessage.Drep(transaction, local, remote, random.bytes(224));
            case DREQ ->
                    new CmMessage.Dreq(
                            transaction, local, remote, random.nextInt(1 << 24), random.bytes(220));
            default -> throw new IllegalArgumentException(attribute.name());
        };
    }

    @ParameterizedTest
    @EnumSource(
            value = CmAttribute.class,
            names = {"REQ", "REP", "RTU", "REJ", "MRA", "DREQ", "DREP"})
    void shouldReturnEachFieldFromItsBytes(CmAttribute attribute, SeededRandom random) {
        for (int round = 0; round < 100; round++) {
            CmMessage sent = message(attribute, random);
            byte[] bytes = CmCodec.encode(sent);
            assertThat(bytes).hasSize(CmCodec.MESSAGE_BYTES);
            assertThat(CmCodec.attribute(MemorySegment.ofArray(bytes), 0, bytes.length))
                    .isEqualTo(attribute);
            assertThat(decode(bytes)).usingRecursiveComparison().isEqualTo(sent);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "REQ, 92",
        "REP, 196",
        "RTU, 224",
        "REJ, 148",
        "MRA, 222",
        "DREQ, 220",
        "DREP, 224"
    })
    void shouldFillUpPrivateDataAndRefuseMore(
            CmAttribute attribute, int limit, SeededRandom random) {
        assertThat(CmCodec.privateDataBytes(attribute)).isEqualTo(limit);
        byte[] bytes = CmCodec.encode(message(attribute, random));
        int at = bytes.length - limit;
        assertThat(Arrays.copyOfRange(bytes, at, bytes.length))
                .as("the last field")
                .isEqualTo(decode(bytes).privateData());
        Function<Integer, CmMessage> withData = size -> new CmMessage.Rtu(1, 2, 3, new byte[size]);
        if (attribute == CmAttribute.RTU) {
            assertThat(decode(CmCodec.encode(withData.apply(0))).privateData())
                    .isEqualTo(new byte[limit]);
            assertThatThrownBy(() -> CmCodec.encode(withData.apply(limit + 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("private data is too long: sizeBytes=225, limit=224");
        }
    }

    @Test
    void shouldPutFieldsWhereTheSpecificationHasThem() {
        CmMessage.Req req =
                new CmMessage.Req(
                        0x0102_0304_0506_0708L,
                        0x1112_1314,
                        ServiceId.ofPort(7174),
                        0x2122_2324_2526_2728L,
                        0,
                        0x31_3233,
                        0x34,
                        0x35,
                        20,
                        true,
                        0x41_4243,
                        18,
                        7,
                        0xffff,
                        5,
                        6,
                        15,
                        true,
                        new CmMessage.Path(
                                1, 2, new byte[16], new byte[16], 0xabcde, 3, 4, 64, 5, true, 17),
                        new byte[0]);
        byte[] bytes = CmCodec.encode(req);
        assertThat(Arrays.copyOf(bytes, 28))
                .containsExactly(
                        1, 7, 2, 3, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0x10, 0, 0, 0, 0, 0, 0,
                        0x11, 0x12, 0x13, 0x14);
        assertThat(Arrays.copyOfRange(bytes, DATA + 8, DATA + 24))
                .containsExactly(
                        0, 0, 0, 0, 1, 6, 0x1c, 6, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28);
        assertThat(Arrays.copyOfRange(bytes, DATA + 32, DATA + 52))
                .containsExactly(
                        0x31,
                        0x32,
                        0x33,
                        0x34,
                        0,
                        0,
                        0,
                        0x35,
                        0,
                        0,
                        0,
                        20 << 3 | 1,
                        0x41,
                        0x42,
                        0x43,
                        18 << 3 | 7,
                        0xff,
                        0xff,
                        0x56,
                        0xf8);
        assertThat(Arrays.copyOfRange(bytes, DATA + 88, DATA + 96))
                .containsExactly(0xab, 0xcd, 0xe0, 3, 4, 64, 0x58, 17 << 3);
    }

    @Test
    void shouldIgnoreReservedBits(SeededRandom random) {
        CmMessage sent = rep(random);
        byte[] bytes = CmCodec.encode(sent);
        bytes[DATA + 15] = -1;
        bytes[DATA + 23] = -1;
        bytes[DATA + 27] |= 0xf;
        bytes[4] = 1; // status
        assertThat(decode(bytes)).usingRecursiveComparison().isEqualTo(sent);
    }

    private static void assertRefused(Supplier<byte[]> bytes, String reason) {
        assertThatThrownBy(() -> decode(bytes.get()))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.INVALID_VALUE))
                .hasMessage("connection message refused: " + reason);
    }

    private static byte[] with(byte[] bytes, int at, int value) {
        bytes[at] = (byte) value;
        return bytes;
    }

    @Test
    void shouldRefuseIllegalFields(SeededRandom random) {
        byte[] req = CmCodec.encode(req(random));
        byte[] rej = CmCodec.encode(rej(random));
        byte[] mra = CmCodec.encode(mra(random));
        assertRefused(() -> new byte[255], "field=sizeBytes, value=255, expected=256");
        assertRefused(() -> new byte[0], "field=sizeBytes, value=0, expected=256");
        assertRefused(
                () -> with(req.clone(), 1, 4),
                "field=management header, value=0x1040203, expected=0x1070203");
        assertRefused(
                () -> with(req.clone(), 17, 0xf), "field=attribute, value=15, expected=16 to 26");
        assertRefused(
                () -> with(req.clone(), 17, 0x1b), "field=attribute, value=27, expected=16 to 26");
        assertRefused(
                () -> with(req.clone(), DATA + 43, 1 << 1), "field=transport, value=1, expected=0");
        assertRefused(
                () -> with(req.clone(), DATA + 50, 0x0f),
                "field=path MTU, value=0, expected=1 to 5");
        assertRefused(
                () -> with(req.clone(), DATA + 50, 0x60),
                "field=path MTU, value=6, expected=1 to 5");
        assertRefused(
                () -> with(req.clone(), DATA + 51, 1),
                "field=extended transport, value=1, expected=0");
        assertRefused(
                () -> with(rej.clone(), DATA + 9, 73 << 1),
                "field=reject information length, value=73, expected=0 to 72");
        assertRefused(
                () -> with(rej.clone(), DATA + 8, 3 << 6),
                "field=message, value=3, expected=0 to 2");
        assertRefused(
                () -> with(mra.clone(), DATA + 8, 3 << 6),
                "field=message, value=3, expected=0 to 2");
    }

    @ParameterizedTest
    @EnumSource(
            value = CmAttribute.class,
            names = {"SIDR_REQ", "SIDR_REP", "LAP", "APR"})
    void shouldSayThatOtherKindsAreNotSupported(CmAttribute attribute, SeededRandom random) {
        byte[] bytes = with(CmCodec.encode(req(random)), 17, attribute.code());
        assertThatThrownBy(() -> decode(bytes))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessage(
                        "connection message is not supported: attribute="
                                + attribute
                                + ", expected=REQ to DREP");
        assertThatThrownBy(() -> CmCodec.privateDataBytes(attribute))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRefuseTooMuchRejectInformation() {
        CmMessage rej =
                new CmMessage.Rej(1, 2, 3, CmMessage.About.REQ, 28, new byte[73], new byte[0]);
        assertThatThrownBy(() -> CmCodec.encode(rej))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("reject information is too long: sizeBytes=73, limit=72");
    }

    @Test
    @Tag(Soak.TAG)
    void shouldThrowNothingButARefusalForAnyBytes(SeededRandom random) {
        List<CmAttribute> kinds = List.of(CmAttribute.values()).subList(0, 7);
        int rounds = Soak.count(20_000, 200_000, 2_000_000);
        int taken = 0;
        long begin = System.nanoTime();
        for (int round = 0; round < rounds; round++) {
            byte[] bytes =
                    random.damaged(
                            CmCodec.encode(
                                    message(kinds.get(random.nextInt(kinds.size())), random)));
            try {
                CmMessage message = decode(bytes);
                byte[] encoded = CmCodec.encode(message);
                assertThat(CmCodec.encode(decode(encoded))).isEqualTo(encoded);
                taken++;
            } catch (DpuException e) {
                assertThat(e.status()).isIn(Status.INVALID_VALUE, Status.NOT_SUPPORTED);
            }
        }
        assertThat(taken).isBetween(1, rounds - 1);
        Soak.report(
                "roce-cm-codec",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "messages=" + rounds + ", taken=" + taken);
    }

    @Test
    void shouldTellTheIdsOfPortsFromOthers() {
        assertThat(ServiceId.ofPort(0xffff)).isEqualTo(0x0106_ffffL);
        assertThat(ServiceId.isPort(0x0106_0000L)).isTrue();
        assertThat(ServiceId.isPort(0x0107_0000L)).isFalse();
        assertThat(ServiceId.isPort(0x1_0106_0000L)).isFalse();
        assertThat(ServiceId.port(ServiceId.ofPort(54321))).isEqualTo(54321);
    }

    @Test
    void shouldKnowTheReasonsOfRejectionsThatItSends() {
        assertThat(RejectReason.text(RejectReason.CONSUMER)).isEqualTo("consumer");
        assertThat(RejectReason.text(RejectReason.STALE_CONNECTION)).isEqualTo("stale connection");
        assertThat(RejectReason.text(RejectReason.INVALID_SERVICE_ID))
                .isEqualTo("invalid service id");
        assertThat(RejectReason.text(RejectReason.NO_RESOURCES)).isEqualTo("no resources");
        assertThat(RejectReason.text(RejectReason.TIMEOUT)).isEqualTo("timeout");
        assertThat(RejectReason.text(RejectReason.UNSUPPORTED)).isEqualTo("unsupported");
        assertThat(RejectReason.text(0)).isNull();
    }

    @Test
    void shouldEncodeTheIpAddressingHeader(SeededRandom random) {
        for (int size : new int[] {4, 16}) {
            IpAddressing sent = new IpAddressing(0xfedc, random.bytes(size), random.bytes(size));
            byte[] program = random.bytes(56);
            byte[] bytes = sent.encode(program);
            assertThat(bytes).hasSize(92);
            assertThat(Arrays.copyOf(bytes, 4))
                    .containsExactly(0, size == 4 ? 0x40 : 0x60, 0xfe, 0xdc);
            assertThat(Arrays.copyOfRange(bytes, 20 - size, 20)).isEqualTo(sent.source());
            assertThat(Arrays.copyOfRange(bytes, 36 - size, 36)).isEqualTo(sent.destination());
            assertThat(IpAddressing.decode(bytes)).usingRecursiveComparison().isEqualTo(sent);
            assertThat(IpAddressing.programData(bytes)).isEqualTo(program);
            assertRefusedHeader(
                    with(bytes.clone(), 0, 0x10), "version of the IP addressing header, value=16");
            assertRefusedHeader(with(bytes.clone(), 1, 0x50), "IP version, value=5");
        }
        assertThatThrownBy(() -> new IpAddressing(1, new byte[4], new byte[16]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new IpAddressing(1, new byte[5], new byte[5]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new IpAddressing(1, new byte[4], new byte[4]).encode(new byte[57]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("private data is too long: sizeBytes=57, limit=56");
    }

    private static void assertRefusedHeader(byte[] bytes, String field) {
        assertThatThrownBy(() -> IpAddressing.decode(bytes))
                .isInstanceOf(DpuException.class)
                .hasMessageContaining("field=" + field);
    }
}
