package io.softdpu.linux;

import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/**
 * Program that prints the heap bytes that a batch of datagrams allocates, a line for each call.
 * With the argument {@code compiled} it waits until the calls are compiled, and makes those too
 * that need it.
 */
final class UdpSocketAllocationProbe {
    private static final int DATAGRAMS = 8;
    private static final int BYTES = 64;

    private static long seen;

    private UdpSocketAllocationProbe() {}

    public static void main(String[] arguments) throws Exception {
        boolean compiled = arguments.length > 0;
        for (String host : new String[] {"127.0.0.1", "::1"}) {
            InetSocketAddress any = new InetSocketAddress(InetAddress.getByName(host), 0);
            UdpSocket sender;
            try {
                sender = UdpSocket.open(any);
            } catch (LinuxException e) {
                System.out.println("none of " + host);
                continue;
            }
            try (sender;
                    UdpSocket receiver = UdpSocket.open(any)) {
                measure(host, compiled, sender, receiver);
            }
        }
        if (seen == 0) {
            throw new AssertionError("calls had no effect");
        }
    }

    private static void measure(
            String host, boolean compiled, UdpSocket sender, UdpSocket receiver) {
        OutgoingDatagrams outgoing = sender.newOutgoing(DATAGRAMS, BYTES);
        ReceivedDatagrams received = receiver.newReceived(DATAGRAMS, BYTES);
        long high = MessageVector.high(receiver.localAddress().getAddress());
        long low = MessageVector.low(receiver.localAddress().getAddress());
        int port = receiver.localAddress().getPort();
        print(
                host + " send and receive",
                compiled,
                () -> {
                    fill(outgoing, high, low, port);
                    sender.send(outgoing);
                    int count = 0;
                    while (count < DATAGRAMS) {
                        count += receiver.receive(received);
                        read(received);
                    }
                });
        print(
                host + " poll without a datagram",
                compiled,
                () -> seen += receiver.poll(received) + 1);
        if (!compiled) {
            return;
        }
        int refusing = RefusedPort.hold(receiver.localAddress().getAddress());
        int refusingPort = SocketAddresses.local(refusing).getPort();
        ReceivedErrors errors = sender.newErrors(DATAGRAMS, BYTES);
        print(
                host + " send to a closed port",
                true,
                () -> {
                    fill(outgoing, high, low, refusingPort);
                    while (outgoing.waiting() > 0) {
                        sender.send(outgoing);
                    }
                    while (sender.receiveErrors(errors) > 0) {
                        read(errors);
                    }
                });
        FileDescriptors.close(refusing);
    }

    private static void fill(OutgoingDatagrams outgoing, long high, long low, int port) {
        while (!outgoing.isFull()) {
            outgoing.memory().set(ValueLayout.JAVA_LONG, outgoing.next(), port);
            outgoing.add(high, low, port, BYTES, UdpSocket.ECN_CAPABLE_0);
        }
    }

    private static void read(ReceivedDatagrams received) {
        for (int i = 0; i < received.count(); i++) {
            seen +=
                    received.offset(i)
                            + received.length(i)
                            + received.sourceHigh(i)
                            + received.sourceLow(i)
                            + received.sourcePort(i)
                            + received.localHigh(i)
                            + received.localLow(i)
                            + received.trafficClass(i)
                            + (received.isTruncated(i) ? 1 : 0)
                            + received.memory().get(ValueLayout.JAVA_BYTE, received.offset(i));
        }
    }

    private static void read(ReceivedErrors errors) {
        for (int i = 0; i < errors.count(); i++) {
            seen +=
                    errors.errno(i)
                            + errors.origin(i)
                            + errors.type(i)
                            + errors.code(i)
                            + errors.offset(i)
                            + errors.length(i)
                            + errors.destinationHigh(i)
                            + errors.destinationLow(i)
                            + errors.destinationPort(i)
                            + errors.offenderHigh(i)
                            + errors.offenderLow(i);
        }
    }

    private static void print(String calls, boolean compiled, Runnable operation) {
        double bytes =
                compiled
                        ? AllocationMeter.bytesPerOperation(operation)
                        : AllocationMeter.bytesPerOperation(Duration.ZERO, operation);
        System.out.println(calls + ": bytes=" + (long) bytes);
    }
}
