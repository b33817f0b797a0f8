package io.softdpu.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.comch.wire.ChannelLimits;
import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.core.DpuException;
import io.softdpu.testkit.StartsProcesses;

/** The datagrams of the bus handshake, and the payload of the Comm Channel in them. */
@StartsProcesses
class HandshakeFuzzTest {

    @FuzzTest
    void bytes(byte[] datagram) {
        Frames.check(datagram);
    }

    @FuzzTest
    void fields(FuzzedDataProvider data) {
        long memoryBytes = data.consumeLong(1, Long.MAX_VALUE);
        switch (data.consumeInt(0, 4)) {
            case 0 -> hello(memoryBytes, data);
            case 1 -> Frames.checkWelcome(memoryBytes, terms(data));
            case 2 -> Frames.checkRefuse(data.consumeInt(), data.consumeString(4000));
            case 3 ->
                    Frames.checkLease(
                            data.consumeLong(),
                            data.consumeLong(),
                            data.consumeLong(),
                            data.consumeBoolean());
            default ->
                    Frames.checkGrant(
                            memoryBytes,
                            data.consumeBoolean(),
                            data.consumeBoolean()
                                    ? new long[] {data.consumeLong()}
                                    : new long[] {data.consumeLong(), data.consumeLong()});
        }
    }

    private static void hello(long memoryBytes, FuzzedDataProvider data) {
        ChannelTerms terms = terms(data);
        String function = data.consumeString(130);
        String name = data.consumeRemainingAsString();
        Hello hello;
        try {
            hello = new Hello(terms, function, name);
        } catch (DpuException e) {
            return; // a name that cannot be
        }
        Frames.checkHello(memoryBytes, hello);
    }

    private static ChannelTerms terms(FuzzedDataProvider data) {
        return ChannelTerms.of(
                data.consumeInt(1, ChannelLimits.MAX_MESSAGE_BYTES),
                data.consumeInt(1, ChannelLimits.MAX_RECEIVE_QUEUE));
    }
}
