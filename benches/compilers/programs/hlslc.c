/* Compiles HLSL files with Microsoft's own DLLs: d3dcompiler_47.dll (FXC) or dxcompiler.dll (DXC). It is built by mingw and
 * runs on Windows and under wine; src/shell.rs says how it is called and what it prints.
 *
 *     x86_64-w64-mingw32-gcc -O1 hlslc.c -o hlslc.exe
 *     wine64 hlslc.exe fxc cs_5_1 FILES...
 *
 * The flags are those of wgpu: strict, and HLSL 2018 for DXC. */
#define COBJMACROS
#include <windows.h>
#include <d3dcompiler.h>
#include <stdio.h>
#include <stdlib.h>

/* The parts of dxcapi.h that are used: mingw does not have it. */
typedef struct {
    const void *pointer;
    size_t size;
    unsigned encoding;
} DxcBuffer;

typedef struct Result Result;
typedef struct {
    HRESULT(WINAPI *QueryInterface)(Result *, const GUID *, void **);
    ULONG(WINAPI *AddRef)(Result *);
    ULONG(WINAPI *Release)(Result *);
    HRESULT(WINAPI *GetStatus)(Result *, HRESULT *);
    HRESULT(WINAPI *GetResult)(Result *, void **);
    HRESULT(WINAPI *GetErrorBuffer)(Result *, ID3DBlob **);
} ResultTable;
struct Result {
    const ResultTable *table;
};

typedef struct Compiler Compiler;
typedef struct {
    HRESULT(WINAPI *QueryInterface)(Compiler *, const GUID *, void **);
    ULONG(WINAPI *AddRef)(Compiler *);
    ULONG(WINAPI *Release)(Compiler *);
    HRESULT(WINAPI *Compile)(Compiler *, const DxcBuffer *, const WCHAR **, unsigned, void *, const GUID *, void **);
} CompilerTable;
struct Compiler {
    const CompilerTable *table;
};

static const GUID CLSID_Compiler = {0x73e22d93, 0xe6ce, 0x47f3, {0xb5, 0xbf, 0xf0, 0x66, 0x4f, 0x39, 0xc1, 0xb0}};
static const GUID IID_Compiler3 = {0x228b4687, 0x5a6a, 0x4730, {0x90, 0x0c, 0x97, 0x02, 0xb2, 0x20, 0x3f, 0x54}};
static const GUID IID_Result = {0x58346cda, 0xdde7, 0x4497, {0x94, 0x61, 0x6f, 0x87, 0xaf, 0x5e, 0x06, 0x59}};

typedef HRESULT(WINAPI *Fxc)(LPCVOID, SIZE_T, LPCSTR, const D3D_SHADER_MACRO *, ID3DInclude *, LPCSTR, LPCSTR, UINT, UINT,
                             ID3DBlob **, ID3DBlob **);
typedef HRESULT(WINAPI *Create)(const GUID *, const GUID *, void **);

static char *contents(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    if (text && fread(text, 1, *size, file) != *size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static HRESULT by_fxc(Fxc compile, const char *text, size_t size, const char *target, ID3DBlob **messages) {
    ID3DBlob *code = NULL;
    HRESULT status = compile(text, size, NULL, NULL, NULL, "main", target, D3DCOMPILE_ENABLE_STRICTNESS, 0, &code, messages);
    if (code) ID3D10Blob_Release(code);
    return status;
}

static HRESULT by_dxc(Compiler *compiler, const char *text, size_t size, const char *target, ID3DBlob **messages) {
    WCHAR wide[16];
    MultiByteToWideChar(CP_UTF8, 0, target, -1, wide, 16);
    const WCHAR *arguments[] = {L"-E", L"main", L"-T", wide, L"-HV", L"2018", L"-Ges"};
    DxcBuffer source = {text, size, CP_UTF8};
    Result *result = NULL;
    HRESULT status = compiler->table->Compile(compiler, &source, arguments, 7, NULL, &IID_Result, (void **)&result);
    if (status != S_OK || !result) return status != S_OK ? status : E_FAIL;
    result->table->GetStatus(result, &status);
    result->table->GetErrorBuffer(result, messages);
    result->table->Release(result);
    return status;
}

int main(int count, char **words) {
    if (count < 4) {
        fprintf(stderr, "usage: hlslc fxc|dxc TARGET FILES...\n");
        return 2;
    }
    int dxc = !strcmp(words[1], "dxc");
    HMODULE library = LoadLibraryA(dxc ? "dxcompiler.dll" : "d3dcompiler_47.dll");
    Compiler *compiler = NULL;
    Fxc fxc = NULL;
    if (library && dxc) {
        Create create = (Create)(void *)GetProcAddress(library, "DxcCreateInstance");
        if (create) create(&CLSID_Compiler, &IID_Compiler3, (void **)&compiler);
    } else if (library) {
        fxc = (Fxc)(void *)GetProcAddress(library, "D3DCompile");
    }
    if (!compiler && !fxc) {
        fprintf(stderr, "the compiler's DLL cannot be loaded: error %lu\n", GetLastError());
        return 3;
    }
    int failed = 0;
    for (int at = 3; at < count; at++) {
        size_t size = 0;
        char *text = contents(words[at], &size);
        ID3DBlob *messages = NULL;
        DWORD begin = GetTickCount();
        HRESULT status = E_FAIL;
        if (text) {
            status = dxc ? by_dxc(compiler, text, size, words[2], &messages) : by_fxc(fxc, text, size, words[2], &messages);
        }
        printf("%-6s %6lu ms  %s: %08lx\n", status == S_OK ? "OK" : "FAILED", GetTickCount() - begin, words[at],
               (unsigned long)status);
        if (messages && ID3D10Blob_GetBufferSize(messages) > 1) {
            printf("%.*s\n", (int)ID3D10Blob_GetBufferSize(messages), (const char *)ID3D10Blob_GetBufferPointer(messages));
        }
        if (messages) ID3D10Blob_Release(messages);
        fflush(stdout);
        failed += status != S_OK;
        free(text);
    }
    printf("%d of %d failed\n", failed, count - 3);
    return failed > 0;
}
