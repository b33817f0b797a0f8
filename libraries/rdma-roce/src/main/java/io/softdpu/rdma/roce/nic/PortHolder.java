package io.softdpu.rdma.roce.nic;

import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Holder of the UDP port of RoCE v2 at an address, as procfs lists sockets and descriptors. For
 * messages: it looks at a limited number of them, for the engine of the caller waits. Any thread.
 */
final class PortHolder {
    private static final Path PROCESSES = Path.of("/proc");
    private static final Path IPV4_SOCKETS = Path.of("/proc/net/udp");
    private static final Path IPV6_SOCKETS = Path.of("/proc/net/udp6");
    private static final String PORT = Text.format(":%04X", Headers.UDP_PORT);
    private static final int LOCAL_ADDRESS = 1;
    private static final int INODE = 9;
    private static final int IPV4_BYTES = 4;

    /** Limits of lines per list of sockets, and of processes and descriptors together. */
    private static final int MAX_LINES = 4096;

    private static final int MAX_LOOKS = 4096;

    /** Search that is made when its result is asked for, once. */
    static final class Search implements Supplier<String> {
        private final Gid address;
        private @Nullable String found;

        Search(Gid address) {
            this.address = address;
        }

        @Override
        public synchronized String get() {
            String known = found;
            if (known == null) {
                known = of(address);
                found = known;
            }
            return known;
        }
    }

    private final Set<String> links;
    private int looksLeft;

    private PortHolder(Set<String> links, int looksLeft) {
        this.links = links;
        this.looksLeft = looksLeft;
    }

    /**
     * The holder.
     *
     * @return {@code process PID}; {@code unknown} if none of the processes and descriptors that it
     *     has looked at has the socket, as for one of the kernel
     */
    static String of(Gid address) {
        return of(address, MAX_LOOKS);
    }

    static String of(Gid address, int looks) {
        Set<String> links = links(address);
        return links.isEmpty() ? "unknown" : new PortHolder(links, looks).process();
    }

    /** Whether there is a socket with the port at the address. */
    static boolean isHeld(Gid address) {
        return !links(address).isEmpty();
    }

    private static Set<String> links(Gid address) {
        Set<String> links = new HashSet<>();
        byte[] bytes = address.addressBytes();
        if (address.isIpv4()) {
            addLinks(links, IPV4_SOCKETS, Set.of(text(bytes), text(new byte[bytes.length])));
        }
        byte[] mapped = address.bytes();
        addLinks(links, IPV6_SOCKETS, Set.of(text(mapped), text(new byte[mapped.length])));
        return links;
    }

    private static void addLinks(Set<String> links, Path sockets, Set<String> addresses) {
        try (BufferedReader lines = Files.newBufferedReader(sockets, StandardCharsets.US_ASCII)) {
            String line = lines.readLine();
            for (int read = 0; line != null && read < MAX_LINES; read++) {
                addLink(links, line, addresses);
                line = lines.readLine();
            }
        } catch (IOException e) {
            // No procfs, or no IPv6: the message does without a process.
        }
    }

    /** Adds the link of descriptors to the socket of a line, if it has one of these addresses. */
    static void addLink(Set<String> links, String line, Set<String> addresses) {
        if (!line.contains(PORT)) {
            return; // without taking it apart
        }
        String[] fields = line.strip().split("\\s+", -1);
        if (fields.length > INODE && addresses.contains(fields[LOCAL_ADDRESS])) {
            links.add("socket:[" + fields[INODE] + "]");
        }
    }

    /** The port at an address, whose words the kernel prints in the order of the processor. */
    static String text(byte[] address) {
        StringBuilder text = new StringBuilder();
        ByteBuffer words = ByteBuffer.wrap(address).order(ByteOrder.nativeOrder());
        for (int at = 0; at < address.length; at += IPV4_BYTES) {
            text.append(Text.format("%08X", words.getInt(at)));
        }
        return text.append(PORT).toString();
    }

    private String process() {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[1-9]*")) {
            for (Path process : processes) {
                if (looksLeft-- <= 0) {
                    return "unknown";
                }
                if (hasDescriptor(process)) {
                    return "process " + process.getFileName();
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return "unknown";
        }
        return "unknown";
    }

    private boolean hasDescriptor(Path process) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path each : descriptors) {
                if (looksLeft-- <= 0) {
                    return false;
                }
                if (links.contains(targetOf(each))) {
                    return true;
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return false; // it has ended, or is another user's
        }
        return false;
    }

    /** Empty for a descriptor that was closed meanwhile. */
    private static String targetOf(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }
}
