package io.softdpu.api;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;

/**
 * Loads the classes of this project a second time, with a call of {@link PassedObjects#entered} at
 * the beginning of each instance method.
 */
final class RecordingLoader extends ClassLoader {
    private static final String OURS = "io.softdpu.";

    private static final CodeTransform RECORDING =
            new CodeTransform() {
                private static final ClassDesc RECORDER =
                        ClassDesc.of(PassedObjects.class.getName());
                private static final MethodTypeDesc ENTERED =
                        MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_Object);

                @Override
                public void atStart(CodeBuilder code) {
                    code.aload(0).invokestatic(RECORDER, "entered", ENTERED);
                }

                @Override
                public void accept(CodeBuilder code, CodeElement element) {
                    code.with(element);
                }
            };

    private final ClassFile classFile;

    RecordingLoader() {
        super(RecordingLoader.class.getClassLoader());
        classFile =
                ClassFile.of(
                        ClassHierarchyResolverOption.of(
                                ClassHierarchyResolver.ofResourceParsing(getParent())));
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS) || name.equals(PassedObjects.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded == null ? define(name) : loaded;
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] recording =
                    classFile.transformClass(
                            classFile.parse(in.readAllBytes()),
                            ClassTransform.transformingMethodBodies(
                                    RecordingLoader::hasObject, RECORDING));
            return defineClass(name, recording, 0, recording.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** Whether a method is one of an object that is complete: no constructor. */
    private static boolean hasObject(MethodModel method) {
        return !method.flags().has(AccessFlag.STATIC)
                && !method.methodName().equalsString(ConstantDescs.INIT_NAME);
    }
}
