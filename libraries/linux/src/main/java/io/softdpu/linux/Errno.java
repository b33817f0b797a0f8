package io.softdpu.linux;

import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/**
 * Error numbers of Linux. They are the same on x86-64 and aarch64 (the kernel's {@code
 * asm-generic/errno.h}).
 */
public final class Errno {
    /** Operation not permitted. */
    public static final int EPERM = 1;

    /** No such file or directory. */
    public static final int ENOENT = 2;

    /** No such process. */
    public static final int ESRCH = 3;

    /** Interrupted system call. */
    public static final int EINTR = 4;

    /** Input/output error. */
    public static final int EIO = 5;

    /** No such device or address. */
    public static final int ENXIO = 6;

    /** Argument list too long. */
    public static final int E2BIG = 7;

    /** Exec format error. */
    public static final int ENOEXEC = 8;

    /** Bad file descriptor. */
    public static final int EBADF = 9;

    /** No child processes. */
    public static final int ECHILD = 10;

    /** Resource temporarily unavailable; also EWOULDBLOCK. */
    public static final int EAGAIN = 11;

    /** Cannot allocate memory. */
    public static final int ENOMEM = 12;

    /** Permission denied. */
    public static final int EACCES = 13;

    /** Bad address. */
    public static final int EFAULT = 14;

    /** Block device required. */
    public static final int ENOTBLK = 15;

    /** Device or resource busy. */
    public static final int EBUSY = 16;

    /** File exists. */
    public static final int EEXIST = 17;

    /** Invalid cross-device link. */
    public static final int EXDEV = 18;

    /** No such device. */
    public static final int ENODEV = 19;

    /** Not a directory. */
    public static final int ENOTDIR = 20;

    /** Is a directory. */
    public static final int EISDIR = 21;

    /** Invalid argument. */
    public static final int EINVAL = 22;

    /** Too many open files in system. */
    public static final int ENFILE = 23;

    /** Too many open files. */
    public static final int EMFILE = 24;

    /** Inappropriate ioctl for device. */
    public static final int ENOTTY = 25;

    /** Text file busy. */
    public static final int ETXTBSY = 26;

    /** File too large. */
    public static final int EFBIG = 27;

    /** No space left on device. */
    public static final int ENOSPC = 28;

    /** Illegal seek. */
    public static final int ESPIPE = 29;

    /** Read-only file system. */
    public static final int EROFS = 30;

    /** Too many links. */
    public static final int EMLINK = 31;

    /** Broken pipe. */
    public static final int EPIPE = 32;

    /** Numerical argument out of domain. */
    public static final int EDOM = 33;

    /** Numerical result out of range. */
    public static final int ERANGE = 34;

    /** Resource deadlock avoided. */
    public static final int EDEADLK = 35;

    /** File name too long. */
    public static final int ENAMETOOLONG = 36;

    /** No locks available. */
    public static final int ENOLCK = 37;

    /** Function not implemented. */
    public static final int ENOSYS = 38;

    /** Directory not empty. */
    public static final int ENOTEMPTY = 39;

    /** Too many levels of symbolic links. */
    public static final int ELOOP = 40;

    /** No data available: also no such extended attribute. */
    public static final int ENODATA = 61;

    /** Machine is not on the network. */
    public static final int ENONET = 64;

    /** Protocol error. */
    public static final int EPROTO = 71;

    /** Value too large for defined data type. */
    public static final int EOVERFLOW = 75;

    /** Too many references: cannot splice. */
    public static final int ETOOMANYREFS = 109;

    /** Socket operation on non-socket. */
    public static final int ENOTSOCK = 88;

    /** Destination address required. */
    public static final int EDESTADDRREQ = 89;

    /** Message too long. */
    public static final int EMSGSIZE = 90;

    /** Protocol wrong type for socket. */
    public static final int EPROTOTYPE = 91;

    /** Protocol not available. */
    public static final int ENOPROTOOPT = 92;

    /** Protocol not supported. */
    public static final int EPROTONOSUPPORT = 93;

    /** Socket type not supported. */
    public static final int ESOCKTNOSUPPORT = 94;

    /** Operation not supported. */
    public static final int EOPNOTSUPP = 95;

    /** Address family not supported by protocol. */
    public static final int EAFNOSUPPORT = 97;

    /** Address already in use. */
    public static final int EADDRINUSE = 98;

    /** Cannot assign requested address. */
    public static final int EADDRNOTAVAIL = 99;

    /** Network is down. */
    public static final int ENETDOWN = 100;

    /** Network is unreachable. */
    public static final int ENETUNREACH = 101;

    /** Software caused connection abort. */
    public static final int ECONNABORTED = 103;

    /** Connection reset by peer. */
    public static final int ECONNRESET = 104;

    /** No buffer space available. */
    public static final int ENOBUFS = 105;

    /** Transport endpoint is already connected. */
    public static final int EISCONN = 106;

    /** Transport endpoint is not connected. */
    public static final int ENOTCONN = 107;

    /** Cannot send after transport endpoint shutdown. */
    public static final int ESHUTDOWN = 108;

    /** Connection timed out. */
    public static final int ETIMEDOUT = 110;

    /** Connection refused. */
    public static final int ECONNREFUSED = 111;

    /** Host is down. */
    public static final int EHOSTDOWN = 112;

    /** No route to host. */
    public static final int EHOSTUNREACH = 113;

    /** Operation already in progress. */
    public static final int EALREADY = 114;

    /** Operation now in progress. */
    public static final int EINPROGRESS = 115;

    /** Stale file handle. */
    public static final int ESTALE = 116;

    /** Disk quota exceeded. */
    public static final int EDQUOT = 122;

    /** Operation canceled. */
    public static final int ECANCELED = 125;

    /** Bound at the first use. */
    private static final class Texts {
        /** The POSIX form: the GNU one of the plain name returns a pointer. */
        static final MethodHandle STRERROR =
                Libc.bindPlain(
                        "__xpg_strerror_r",
                        FunctionDescriptor.of(Libc.INT, Libc.INT, Libc.POINTER, Libc.LONG));

        private Texts() {}
    }

    private Errno() {}

    /**
     * Names an error number.
     *
     * @param errno an error number
     * @return its symbol, such as {@code ENOENT}, or {@code errno N} for one not listed here
     */
    public static String name(int errno) {
        return switch (errno) {
            case EPERM -> "EPERM";
            case ENOENT -> "ENOENT";
            case ESRCH -> "ESRCH";
            case EINTR -> "EINTR";
            case EIO -> "EIO";
            case ENXIO -> "ENXIO";
            case E2BIG -> "E2BIG";
            case ENOEXEC -> "ENOEXEC";
            case EBADF -> "EBADF";
            case ECHILD -> "ECHILD";
            case EAGAIN -> "EAGAIN";
            case ENOMEM -> "ENOMEM";
            case EACCES -> "EACCES";
            case EFAULT -> "EFAULT";
            case ENOTBLK -> "ENOTBLK";
            case EBUSY -> "EBUSY";
            case EEXIST -> "EEXIST";
            case EXDEV -> "EXDEV";
            case ENODEV -> "ENODEV";
            case ENOTDIR -> "ENOTDIR";
            case EISDIR -> "EISDIR";
            case EINVAL -> "EINVAL";
            case ENFILE -> "ENFILE";
            case EMFILE -> "EMFILE";
            case ENOTTY -> "ENOTTY";
            case ETXTBSY -> "ETXTBSY";
            case EFBIG -> "EFBIG";
            case ENOSPC -> "ENOSPC";
            case ESPIPE -> "ESPIPE";
            case EROFS -> "EROFS";
            case EMLINK -> "EMLINK";
            case EPIPE -> "EPIPE";
            case EDOM -> "EDOM";
            case ERANGE -> "ERANGE";
            case EDEADLK -> "EDEADLK";
            case ENAMETOOLONG -> "ENAMETOOLONG";
            case ENOLCK -> "ENOLCK";
            case ENOSYS -> "ENOSYS";
            case ENOTEMPTY -> "ENOTEMPTY";
            case ELOOP -> "ELOOP";
            case ENODATA -> "ENODATA";
            case ENONET -> "ENONET";
            case EPROTO -> "EPROTO";
            case EOVERFLOW -> "EOVERFLOW";
            case ETOOMANYREFS -> "ETOOMANYREFS";
            case ENOTSOCK -> "ENOTSOCK";
            case EDESTADDRREQ -> "EDESTADDRREQ";
            case EMSGSIZE -> "EMSGSIZE";
            case EPROTOTYPE -> "EPROTOTYPE";
            case ENOPROTOOPT -> "ENOPROTOOPT";
            case EPROTONOSUPPORT -> "EPROTONOSUPPORT";
            case ESOCKTNOSUPPORT -> "ESOCKTNOSUPPORT";
            case EOPNOTSUPP -> "EOPNOTSUPP";
            case EAFNOSUPPORT -> "EAFNOSUPPORT";
            case EADDRINUSE -> "EADDRINUSE";
            case EADDRNOTAVAIL -> "EADDRNOTAVAIL";
            case ENETDOWN -> "ENETDOWN";
            case ENETUNREACH -> "ENETUNREACH";
            case ECONNABORTED -> "ECONNABORTED";
            case ECONNRESET -> "ECONNRESET";
            case ENOBUFS -> "ENOBUFS";
            case EISCONN -> "EISCONN";
            case ENOTCONN -> "ENOTCONN";
            case ESHUTDOWN -> "ESHUTDOWN";
            case ETIMEDOUT -> "ETIMEDOUT";
            case ECONNREFUSED -> "ECONNREFUSED";
            case EHOSTDOWN -> "EHOSTDOWN";
            case EHOSTUNREACH -> "EHOSTUNREACH";
            case EALREADY -> "EALREADY";
            case EINPROGRESS -> "EINPROGRESS";
            case ESTALE -> "ESTALE";
            case EDQUOT -> "EDQUOT";
            case ECANCELED -> "ECANCELED";
            default -> "errno " + errno;
        };
    }

    /**
     * Describes an error number in the words of the C library, for messages to users.
     *
     * @param errno an error number
     * @return its text, such as {@code Connection refused}
     */
    public static String text(int errno) {
        CallState state = CallState.current();
        int result;
        try {
            result =
                    (int)
                            Texts.STRERROR.invokeExact(
                                    errno, state.scratchAddress, (long) CallState.SCRATCH_BYTES);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return result == 0 ? state.scratch.getString(0) : name(errno);
    }
}
