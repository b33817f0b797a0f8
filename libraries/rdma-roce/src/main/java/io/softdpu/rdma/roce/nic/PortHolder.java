package io.softdpu.rdma.roce.nic;

import io.softdpu.linux.text.Text;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Holder of the UDP port of RoCE v2 at an address, as procfs lists sockets and descriptors. For
 * messages; any thread.
 */
final class PortHolder {
    private static final Path PROCESSES = Path.of("/proc");
    private static final Path IPV4_SOCKETS = Path.of("/proc/net/udp");
    private static final Path IPV6_SOCKETS = Path.of("/proc/net/udp6");
    private static final int LOCAL_ADDRESS = 1;
    private static final int INODE = 9;
    private static final int IPV4_BYTES = 4;

    private PortHolder() {}

    /**
     * The holder.
     *
     * @return {@code process PID}; {@code unknown} if no process that is visible has the socket, as
     *     for one of the kernel
     */
    static String of(Gid address) {
        Set<String> links = new HashSet<>();
        byte[] bytes = address.addressBytes();
        if (address.isIpv4()) {
            addLinks(links, IPV4_SOCKETS, Set.of(text(bytes), text(new byte[bytes.length])));
        }
        byte[] mapped = address.bytes();
        addLinks(links, IPV6_SOCKETS, Set.of(text(mapped), text(new byte[mapped.length])));
        return links.isEmpty() ? "unknown" : processWith(links);
    }

    private static void addLinks(Set<String> links, Path sockets, Set<String> addresses) {
        try {
            links.addAll(links(Files.readAllLines(sockets, StandardCharsets.US_ASCII), addresses));
        } catch (IOException e) {
            // No procfs, or no IPv6: the message does without a process.
        }
    }

    /** The links of descriptors to the sockets that have the port at one of these addresses. */
    static Set<String> links(List<String> lines, Set<String> addresses) {
        Set<String> links = new HashSet<>();
        for (String line : lines) {
            String[] fields = line.strip().split("\\s+", -1);
            if (fields.length > INODE && addresses.contains(fields[LOCAL_ADDRESS])) {
                links.add("socket:[" + fields[INODE] + "]");
            }
        }
        return links;
    }

    /** The port at an address, whose words the kernel prints in the order of the processor. */
    static String text(byte[] address) {
        StringBuilder text = new StringBuilder();
        ByteBuffer words = ByteBuffer.wrap(address).order(ByteOrder.nativeOrder());
        for (int at = 0; at < address.length; at += IPV4_BYTES) {
            text.append(Text.format("%08X", words.getInt(at)));
        }
        return text.append(Text.format(":%04X", Headers.UDP_PORT)).toString();
    }

    private static String processWith(Set<String> links) {
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[1-9]*")) {
            for (Path process : processes) {
                if (hasDescriptor(process, links)) {
                    return "process " + process.getFileName();
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return "unknown";
        }
        return "unknown";
    }

    private static boolean hasDescriptor(Path process, Set<String> links) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path each : descriptors) {
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
