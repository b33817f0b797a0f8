package io.softdpu.rdma.roce.wire;

/** Texts of IP addresses; those of IPv6 in the short form of RFC 5952. */
public final class Addresses {
    private static final int GROUPS = 8;

    private Addresses() {}

    /**
     * The text of an address.
     *
     * @param address 4 or 16 bytes
     */
    public static String text(byte[] address) {
        return address.length == 4 ? ipv4(address) : ipv6(address);
    }

    private static String ipv4(byte[] address) {
        StringBuilder text = new StringBuilder();
        for (byte each : address) {
            text.append(text.isEmpty() ? "" : ".").append(Byte.toUnsignedInt(each));
        }
        return text.toString();
    }

    private static String ipv6(byte[] address) {
        int zerosAt = -1;
        int zeros = 1; // a single group of zero is written
        for (int at = 0; at < GROUPS; at++) {
            int count = 0;
            while (at + count < GROUPS && group(address, at + count) == 0) {
                count++;
            }
            if (count > zeros) {
                zerosAt = at;
                zeros = count;
            }
        }
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < GROUPS; at++) {
            if (at == zerosAt) {
                text.append("::");
                at += zeros - 1;
            } else {
                boolean begins = text.isEmpty() || text.charAt(text.length() - 1) == ':';
                text.append(begins ? "" : ":").append(Integer.toHexString(group(address, at)));
            }
        }
        return text.toString();
    }

    private static int group(byte[] address, int index) {
        return Byte.toUnsignedInt(address[2 * index]) << 8
                | Byte.toUnsignedInt(address[2 * index + 1]);
    }
}
