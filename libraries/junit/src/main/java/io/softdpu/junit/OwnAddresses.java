package io.softdpu.junit;

import io.softdpu.core.device.PciFunction;
import io.softdpu.core.device.Topology;
import io.softdpu.linux.text.Text;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Addresses of cards that are reached over the network: each function of each card of this process
 * has one of its own in 127.128.0.0/9, of which every machine has all. Any thread.
 */
final class OwnAddresses {
    private static final int FIRST_SECOND_BYTE = 128;

    /** Without 127.255.0.0/16, which has the broadcast address. */
    private static final int COUNT = 127 << 16;

    /** Begins anywhere, so that processes that run at the same time hardly meet. */
    private static final AtomicInteger NEXT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(COUNT));

    private OwnAddresses() {}

    /** The same card with IPv4 addresses that no other card has. */
    static Topology of(Topology card) {
        Topology.Builder made = Topology.builder(card.name());
        for (PciFunction function : card.functions()) {
            made.add(function.toBuilder().ipv4(next()).build());
        }
        return made.build();
    }

    private static String next() {
        int place = Math.floorMod(NEXT.getAndIncrement(), COUNT);
        return Text.format(
                "127.%d.%d.%d",
                FIRST_SECOND_BYTE + (place >>> 16), (place >>> 8) & 0xff, place & 0xff);
    }
}
