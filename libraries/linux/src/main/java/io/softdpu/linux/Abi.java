package io.softdpu.linux;

import java.util.Locale;

/**
 * Kernel ABI of an architecture: the constants that differ, and the layouts of structures that are
 * read and written byte by byte.
 *
 * <p>Only the members below differ between the two; all other offsets are the same on every 64-bit
 * little-endian Linux and are in the nested tables.
 */
enum Abi {
    X86_64(0x4000, 0x1_0000, 0x2_0000, 12, 4),
    AARCH64(0x1_0000, 0x4000, 0x8000, 16, 8);

    /** O_DIRECT. */
    final int directIo;

    /** O_DIRECTORY. */
    final int directory;

    /** O_NOFOLLOW. */
    final int noFollow;

    /** sizeof(struct epoll_event): packed on x86-64 only. */
    final int epollEventBytes;

    /** Offset of its member data; events is at 0. */
    final int epollDataOffset;

    Abi(int directIo, int directory, int noFollow, int epollEventBytes, int epollDataOffset) {
        this.directIo = directIo;
        this.directory = directory;
        this.noFollow = noFollow;
        this.epollEventBytes = epollEventBytes;
        this.epollDataOffset = epollDataOffset;
    }

    /** The ABI that this JVM runs on. */
    static final Abi CURRENT =
            of(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));

    static Abi of(String osName, String osArch) {
        if (osName.equals("Linux")) {
            switch (osArch.toLowerCase(Locale.ROOT)) {
                case "amd64", "x86_64" -> {
                    return X86_64;
                }
                case "aarch64", "arm64" -> {
                    return AARCH64;
                }
                default -> {}
            }
        }
        throw new UnsupportedOperationException(
                "platform not supported: os.name="
                        + osName
                        + ", os.arch="
                        + osArch
                        + ", supported=Linux on x86-64 and aarch64");
    }

    /** struct msghdr. */
    static final class MsgHdr {
        static final int NAME = 0;
        static final int NAME_LENGTH = 8;
        static final int IOV = 16;
        static final int IOV_LENGTH = 24;
        static final int CONTROL = 32;
        static final int CONTROL_LENGTH = 40;
        static final int FLAGS = 48;
        static final int BYTES = 56;

        private MsgHdr() {}
    }

    /** struct mmsghdr: a msghdr, and the number of bytes that were sent or received. */
    static final class MMsgHdr {
        static final int LENGTH = MsgHdr.BYTES;
        static final int BYTES = 64;

        private MMsgHdr() {}
    }

    /** struct cmsghdr and the padding rules of the CMSG_ macros. */
    static final class CmsgHdr {
        static final int LENGTH = 0;
        static final int LEVEL = 8;
        static final int TYPE = 12;
        static final int DATA = 16;

        private CmsgHdr() {}

        /** CMSG_LEN. */
        static int length(int dataBytes) {
            return DATA + dataBytes;
        }

        /** CMSG_SPACE. */
        static int space(int dataBytes) {
            return DATA + align(dataBytes);
        }

        /** CMSG_ALIGN. */
        static int align(int bytes) {
            return (bytes + 7) & -8;
        }
    }

    /** struct iovec. */
    static final class IoVec {
        static final int BASE = 0;
        static final int LENGTH = 8;
        static final int BYTES = 16;

        private IoVec() {}
    }

    /** struct sockaddr_un. */
    static final class SockAddrUn {
        static final int FAMILY = 0;
        static final int PATH = 2;
        static final int PATH_BYTES = 108;
        static final int BYTES = 110;

        private SockAddrUn() {}
    }

    /** struct sockaddr_in; port and address in network order. */
    static final class SockAddrIn {
        static final int FAMILY = 0;
        static final int PORT = 2;
        static final int ADDRESS = 4;
        static final int ADDRESS_BYTES = 4;
        static final int BYTES = 16;

        private SockAddrIn() {}
    }

    /** struct sockaddr_in6; port and address in network order, the scope in the machine's. */
    static final class SockAddrIn6 {
        static final int FAMILY = 0;
        static final int PORT = 2;
        static final int FLOW = 4;
        static final int ADDRESS = 8;
        static final int ADDRESS_BYTES = 16;
        static final int SCOPE = 24;
        static final int BYTES = 28;

        private SockAddrIn6() {}
    }

    /** struct in_pktinfo; the address is the destination in the IP header. */
    static final class InPktInfo {
        static final int ADDRESS = 8;
        static final int BYTES = 12;

        private InPktInfo() {}
    }

    /** struct in6_pktinfo. */
    static final class In6PktInfo {
        static final int ADDRESS = 0;
        static final int BYTES = 20;

        private In6PktInfo() {}
    }

    /** struct sock_extended_err; the sockaddr of the offender is behind it. */
    static final class ExtendedError {
        static final int ERRNO = 0;
        static final int ORIGIN = 4;
        static final int TYPE = 5;
        static final int CODE = 6;
        static final int INFO = 8;
        static final int BYTES = 16;

        private ExtendedError() {}
    }

    /** struct pollfd. */
    static final class PollFd {
        static final int FD = 0;
        static final int EVENTS = 4;
        static final int RETURNED = 6;
        static final int BYTES = 8;

        private PollFd() {}
    }

    /** struct ucred. */
    static final class UCred {
        static final int PID = 0;
        static final int UID = 4;
        static final int GID = 8;
        static final int BYTES = 12;

        private UCred() {}
    }

    /** struct statx, as far as it is read. */
    static final class Statx {
        static final int MASK = 0;
        static final int UID = 20;
        static final int MODE = 28;
        static final int INODE = 32;
        static final int SIZE = 40;
        static final int BLOCKS = 48;
        static final int DEVICE_MAJOR = 136;
        static final int DEVICE_MINOR = 140;
        static final int DIRECT_MEMORY_ALIGNMENT = 152;
        static final int DIRECT_OFFSET_ALIGNMENT = 156;
        static final int BYTES = 256;

        private Statx() {}
    }

    /** struct io_uring_params, with the offsets in the mapped rings. */
    static final class UringParams {
        static final int SQ_ENTRIES = 0;
        static final int CQ_ENTRIES = 4;
        static final int FLAGS = 8;
        static final int FEATURES = 20;
        static final int SQ_TAIL = 44;
        static final int SQ_FLAGS = 56;
        static final int SQ_ARRAY = 64;
        static final int CQ_HEAD = 80;
        static final int CQ_TAIL = 84;
        static final int CQ_OVERFLOW = 96;
        static final int CQ_CQES = 100;
        static final int BYTES = 120;

        private UringParams() {}
    }

    /** struct io_uring_sqe, as far as it is written: eight words, each at its low member. */
    static final class UringSubmission {
        /** The operation; the descriptor is in the high half of this word. */
        static final int OPCODE = 0;

        static final int OFFSET = 8;
        static final int ADDRESS = 16;

        /** The length; the flags of the operation are in the high half of this word. */
        static final int LENGTH = 24;

        static final int USER_DATA = 32;
        static final int BYTES = 64;

        private UringSubmission() {}
    }

    /** struct io_uring_cqe. */
    static final class UringCompletion {
        static final int USER_DATA = 0;
        static final int RESULT = 8;
        static final int BYTES = 16;

        private UringCompletion() {}
    }

    /** struct io_uring_probe, and the struct io_uring_probe_op that it ends with. */
    static final class UringProbe {
        static final int LENGTH = 1;
        static final int OPERATIONS = 16;
        static final int OPERATION_FLAGS = 2;
        static final int OPERATION_BYTES = 8;

        private UringProbe() {}
    }

    /** struct statfs, as far as it is read. */
    static final class Statfs {
        static final int TYPE = 0;
        static final int BYTES = 120;

        private Statfs() {}
    }

    /** struct flock. */
    static final class Flock {
        static final int TYPE = 0;
        static final int WHENCE = 2;
        static final int START = 8;
        static final int LENGTH = 16;
        static final int PID = 24;
        static final int BYTES = 32;

        private Flock() {}
    }

    /** struct itimerspec. */
    static final class ITimerSpec {
        static final int INTERVAL_SECONDS = 0;
        static final int INTERVAL_NANOS = 8;
        static final int SECONDS = 16;
        static final int NANOS = 24;
        static final int BYTES = 32;

        private ITimerSpec() {}
    }
}
