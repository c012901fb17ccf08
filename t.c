#include <pjrt_c_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int c,char**v){ void*l=dlopen(v[1],RTLD_NOW); const PJRT_Api*(*g)(void)=(void*)dlsym(l,"GetPjrtApi"); const PJRT_Api*a=g();
 const char *names[]={"bogus_option","cpu_device_count"};
 for(int i=0;i<3;i++){
 PJRT_NamedValue o={.struct_size=PJRT_NamedValue_STRUCT_SIZE,.name=names[i%2],.name_size=strlen(names[i%2]),.type=i==0?PJRT_NamedValue_kInt64:PJRT_NamedValue_kBool,.value_size=1};
 if(i==2){o.type=PJRT_NamedValue_kInt64;o.int64_value=-4;o.name=names[1];o.name_size=strlen(names[1]);}
 PJRT_Client_Create_Args x={.struct_size=PJRT_Client_Create_Args_STRUCT_SIZE,.create_options=&o,.num_options=1};
 PJRT_Error*e=a->PJRT_Client_Create(&x);
 if(e){PJRT_Error_GetCode_Args q={.struct_size=PJRT_Error_GetCode_Args_STRUCT_SIZE,.error=e};a->PJRT_Error_GetCode(&q);PJRT_Error_Message_Args m={.struct_size=PJRT_Error_Message_Args_STRUCT_SIZE,.error=e};a->PJRT_Error_Message(&m);printf("%d code %d %.*s\n",i,q.code,(int)m.message_size,m.message);}else printf("%d ok\n",i);}
}
