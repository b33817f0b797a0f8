package io.softdpu.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.testkit.StartsProcesses;
import java.lang.foreign.MemorySegment;

/** The control messages of a Comm Channel: announcements of consumers, and their numbers. */
@StartsProcesses
class AnnouncementFuzzTest {

    @FuzzTest
    void bytes(byte[] payload) {
        ConsumerAnnouncement announcement =
                Refused.orValue(() ->
                        ConsumerAnnouncement.decode(
                                MemorySegment.ofArray(payload), 0, payload.length));
        if (announcement != null) {
            Refused.requireSame("announcement", payload, encode(announcement));
        }
    }

    @FuzzTest
    void fields(FuzzedDataProvider data) {
        int code = data.consumeInt();
        MessageType type = MessageType.ofCode(code);
        if (type != null && type.code() != code) {
            throw new AssertionError("type of another number: code=" + code + ", type=" + type);
        }
        int consumer = data.consumeInt();
        int status = data.consumeInt();
        long word = ControlWord.of(consumer, status);
        if (ControlWord.consumerId(word) != consumer
                || ControlWord.statusCode(word) != status
                || ControlWord.statusCode(ControlWord.of(consumer)) != 0) {
            throw new AssertionError("word came back as another: word=" + word);
        }
        int slots = 1 << data.consumeInt(0, 13);
        if (slots > ChannelLimits.MAX_POSTED_BUFFERS) {
            throw new AssertionError("limit has changed: slots=" + slots);
        }
        Refused.requireReturns(
                new ConsumerAnnouncement(slots, address(data), address(data)),
                value ->
                        ConsumerAnnouncement.decode(
                                MemorySegment.ofArray(encode(value)),
                                0,
                                ConsumerAnnouncement.WIRE_BYTES));
    }

    private static byte[] encode(ConsumerAnnouncement announcement) {
        byte[] bytes = new byte[ConsumerAnnouncement.WIRE_BYTES];
        announcement.encode(MemorySegment.ofArray(bytes), 0);
        return bytes;
    }

    private static RegionAddress address(FuzzedDataProvider data) {
        return new RegionAddress(
                new RegionAddress.Id(data.consumeLong(), data.consumeLong()),
                new RegionAddress.Id(data.consumeLong(), data.consumeLong()),
                new RegionAddress.Id(data.consumeLong(), data.consumeLong()),
                data.consumeLong(),
                new RegionAddress.Id(data.consumeLong(), data.consumeLong()),
                data.consumeLong(1, Long.MAX_VALUE));
    }
}
